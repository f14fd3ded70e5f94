#!/bin/bash
# The script workload: a pipe, background jobs, a subshell, a daemon that outlives it, and a
# tolerated failure. Every program except mkdir is the worker under another name.
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
