#!/bin/bash
# A script with a pipe, background jobs, a subshell, a step that fails and is let pass, a
# command that is not there, one that its parent kills, and a daemon that outlives it: what
# tests/golden/record records as `script`.
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
