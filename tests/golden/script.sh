#!/bin/bash
# A script with a pipe, background jobs, a subshell, a tolerated failure, a missing command, a
# command killed by its parent, and a daemon that outlives it; recorded by tests/golden/record as
# `script`.
set -euo pipefail

seq 20000 | sort -r | gzip >data.gz

gzip -dc data.gz >left &
xz -k data.gz &
wait

(
	md5sum left
	wc -l left
) >sums

setsid sleep 2 </dev/null >/dev/null 2>&1 &
disown

grep -q nobody-writes-this left || true
no-such-command left || true
sleep 9 &
sleep 0.2
kill -TERM $!
wait $! || true
head -n 3 sums >report
