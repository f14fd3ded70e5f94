#!/bin/bash
# Runs inside the container booted by check_shipper.py: installs the unit as deploy/install does and
# runs it once. $1: the directory shared with the test.
set -x
shared=$1
systemd-sysusers "$shared/tracer.conf" "$shared/tracer-shipper.conf"
install -d -o tracer -g tracer -m 750 /var/lib/tracer
for file in "$shared"/replayed.db*; do
	cp "$file" "/var/lib/tracer/tracer${file##*/replayed}"
done
chown tracer:tracer /var/lib/tracer/*
chmod 640 /var/lib/tracer/*
install -D -m 755 "$shared/tracer-shipper" /opt/tracer/tracer-shipper
install -D -m 644 "$shared/shipper.yaml" /etc/tracer/shipper.yaml
install -o tracer-shipper -m 600 "$shared/password" /etc/tracer/password
sed 's|/usr/local/libexec|/opt|' "$shared/tracer-shipper.service" \
	>/etc/systemd/system/tracer-shipper.service
(cd /var/lib/tracer && sha256sum -- *) >"$shared/before"
systemctl daemon-reload
systemctl start tracer-shipper
for ((try = 0; try < 600; try++)); do
	grep -q '"sent_batch_count": 6' /var/lib/tracer-shipper/status.json && break
	sleep 0.1
done
grep -E '^(Uid|Groups|Cap...|NoNewPrivs|Seccomp):' \
	"/proc/$(systemctl show --property MainPID --value tracer-shipper)/status" >"$shared/process"
systemctl stop tracer-shipper
(cd /var/lib/tracer && sha256sum -- *) >"$shared/after"
systemctl show --property Result,ExecMainStatus tracer-shipper >"$shared/result"
journalctl --unit tracer-shipper --no-pager
systemctl poweroff --force
