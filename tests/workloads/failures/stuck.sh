#!/bin/bash
# Stalled steps: one in uninterruptible sleep, one waiting alone, and one waiting while the other
# end of its pipe is active. Then one that does not reap its children, and one that does later.
python3 spawner.py fifo &
lonely --sleep 900000 &
python3 ticker.py | waiting --sleep 900000 &
python3 hoarder.py 900 > /dev/null &
python3 hoarder.py 2 > /dev/null &
wait
