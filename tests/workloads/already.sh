#!/bin/bash
# The workload that runs before the probe: two steps are over and one is half-way when the
# daemons come; its loop goes on under them. It waits for the file that says they are there.
set -euo pipefail

early --cpu 10
early --cpu 10
long --until watched --sleep 100 &
touch half-way
until [[ -e watched ]]; do
	sleep 0.1
done
late --cpu 20
late --cpu 20
wait
