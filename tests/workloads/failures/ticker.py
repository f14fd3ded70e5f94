"""Writes a byte now and then, for the maximum duration of a test."""
import os
import time

for _ in range(900):
    os.write(1, b".")
    time.sleep(1)
