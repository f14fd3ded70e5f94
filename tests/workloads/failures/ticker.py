"""Writes a byte now and then, for as long as a test may take."""
import os
import time

for _ in range(900):
    os.write(1, b".")
    time.sleep(1)
