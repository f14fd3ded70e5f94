#!/bin/bash
# The Docker workload: a script that has two containers run at once, each in a working directory
# of its own as workflow engines start them, between two steps of its own.
#   docker.sh DOCKER IMAGE
set -euo pipefail

prepare --cpu 20
mkdir one two
(cd one && exec "$1" run --rm --network none --volume "$PWD:$PWD" --workdir "$PWD" \
	--name tracer-one "$2" sh -c 'assemble --cpu 20; polish --cpu 20; true') &
(cd two && exec "$1" run --rm --network none --volume "$PWD:$PWD" --workdir "$PWD" \
	--name tracer-two "$2" sh -c 'scan --cpu 20; merge --cpu 20; true') &
wait %1
wait %2
conclude --cpu 20
