#!/bin/bash
# The workload that starts before the probe: when the daemons start, two steps are over and one is
# half done; its loop then continues. It waits for the file that says they are ready.
set -euo pipefail

early --cpu 10
early --cpu 10
long --until watched --sleep 100 &
until [[ $(</proc/$!/comm) == long ]]; do
	sleep 0.1 # it is forked, and not yet executed
done
: >half-way # no process of touch may be left
until [[ -e watched ]]; do
	sleep 0.1
done
late --cpu 20
late --cpu 20
wait
