#!/bin/bash
# The container workload: a script that runs a container between two steps of its own.
#   container.sh BUNDLE CONTAINER
set -euo pipefail

prepare --cpu 20
runc --root "$1/state" run --bundle "$1" "$2"
conclude --cpu 20
