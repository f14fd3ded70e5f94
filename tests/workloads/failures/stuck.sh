#!/bin/bash
# Steps that stand still: one in uninterruptible sleep, one that waits with nobody beside it, one
# that waits while the other end of its pipe works.
python3 spawner.py fifo &
lonely --sleep 900000 &
python3 ticker.py | waiting --sleep 900000 &
wait
