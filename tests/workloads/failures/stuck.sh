#!/bin/bash
# Stalled steps: one in uninterruptible sleep, one waiting alone, and one waiting while the other
# end of its pipe is active.
python3 spawner.py fifo &
lonely --sleep 900000 &
python3 ticker.py | waiting --sleep 900000 &
wait
