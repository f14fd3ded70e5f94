"""Begins children that end, and reaps them after that many seconds. Writes a byte now and then, to make progress."""
import os
import sys
import time

COUNT = 120

for _ in range(COUNT):
    if os.fork() == 0:
        os._exit(0)
for second in range(900):
    if second == int(sys.argv[1]):
        for _ in range(COUNT):
            os.wait()
    os.write(1, b".")
    time.sleep(1)
