#!/bin/bash
# The container workload: a script that runs a container between two steps of its own.
#   container.sh COMMAND...      COMMAND: starts the container
set -euo pipefail

prepare --cpu 20
"$@"
conclude --cpu 20
