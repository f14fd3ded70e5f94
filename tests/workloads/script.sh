#!/bin/bash
# The script workload: a pipe, background jobs, a subshell, a daemon that outlives it, and a
# step that fails and is let pass. Every program but mkdir is the worker by another name.
set -euo pipefail

mkdir out
fetch --cpu 20 | unpack --copy --cpu 20 >out/data

align --cpu 40 --sleep 500 &
index --cpu 40 --sleep 500 &
wait

(
	normalize --cpu 20
	merge --cpu 20
) >out/merged

ledger --daemon --cpu 20 --until let-go

verify --exit 3 || true
report --cpu 20 >out/report
