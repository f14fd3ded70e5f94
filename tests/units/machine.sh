# Shared by the scripts that `check` boots a system for, in units/ and packages/: verdicts about the services
# of an installation, and commands whose records must be in its store. Sourced by bash; the caller has
# set $suite, $distribution, and $cgroup, the name of the container's cgroup, which is unique on this host.
# shellcheck shell=bash
# shellcheck disable=SC2154 # the callers set them

markers=/opt/check/$cgroup # its path, and so its commands', is unique to this container
units=(tracer-correlator tracer-probe)
store=/var/lib/tracer/tracer.db
runs=0
given=0

# within SECONDS COMMAND...: repeats a command until it succeeds; otherwise prints its last output.
within() {
	local deadline=$((SECONDS + $1)) output
	shift
	until output=$("$@" 2>&1); do
		((SECONDS < deadline)) || {
			echo "$output"
			return 1
		}
		sleep 0.1
	done
}

verdict() {
	local name=$1 output begin=$SECONDS
	shift
	given=$((given + 1))
	if output=$("$@" 2>&1); then
		echo "ok - $suite, $distribution: $name # $((SECONDS - begin)) s"
	else
		echo "not ok - $suite, $distribution: $name"
		{
			systemctl --no-pager --lines=0 status "${units[@]}" | grep -E '^[^ ]|Active:'
			journalctl --no-pager --output=short-precise --lines=20 "${units[@]/#/--unit=}" |
				grep -v 'loopback network device'
			tail -n 30 <<<"$output"
		} 2>&1 | sed 's/^/    /'
	fi
}

# all_are STATE: checks each unit, since systemctl accepts any one of several.
all_are() {
	local unit
	for unit in "${units[@]}"; do
		systemctl "is-$1" "$unit" || return
	done
}

main_pid() {
	systemctl show -P MainPID "$1"
}

is_another_than() {
	local now
	now=$(main_pid "$2")
	[[ $now != 0 && $now != "$1" ]] && systemctl --quiet is-active "$2"
}

# Each marker once. The ring is the host's, which other programs may overload: as many may be
# missing as are counted as lost here, or in an unknown cgroup.
is_stored() {
	local stored missing doubled lost
	stored=$(sqlite3 -readonly "$store" "SELECT program FROM processes
		WHERE path LIKE '$markers/%' AND ended = 'exit'") &&
		lost=$(sqlite3 -readonly "$store" "SELECT coalesce(sum(lost_count), 0) FROM losses
			WHERE coalesce(cgroup_path, '$cgroup/') LIKE '%$cgroup/%'") || return
	missing=$(seq "$runs" | grep -vxF "$stored")
	doubled=$(sort <<<"$stored" | uniq -d)
	echo "of commands 1 to $runs missing: ${missing//$'\n'/ }; more than once: ${doubled//$'\n'/ };" \
		"records lost: $lost"
	[[ -z $doubled ]] && (($(wc -w <<<"$missing") <= lost))
}

run_marker() {
	runs=$((runs + 1))
	ln /opt/check/marker "$markers/$runs"
	"$markers/$runs"
}

has_no_capability() {
	local sets
	sets=$(grep -E '^Cap(Inh|Prm|Eff|Amb):' "/proc/$(main_pid "$1")/status") || return
	! grep -v '0000000000000000$' <<<"$sets"
}

# ends_with STATUS TEXT COMMAND...: the command ends with STATUS and prints TEXT.
ends_with() {
	local expected=$1 text=$2 status=0 output
	shift 2
	output=$("$@" 2>&1) || status=$?
	tee /opt/check/printed <<<"$output"
	((status == expected)) || {
		echo "ended with $status, not $expected"
		return 1
	}
	grep -qF -- "$text" <<<"$output" || {
		echo "does not print: $text"
		return 1
	}
}

# upgrade_under_load NAME COMMAND...: runs it while a command starts every 20 ms; it must replace both daemons.
upgrade_under_load() {
	local name=$1 log=/opt/check/upgrade.log upgrade ended=0 before=$runs probe correlator
	shift
	probe=$(main_pid tracer-probe)
	correlator=$(main_pid tracer-correlator)
	"$@" >"$log" 2>&1 &
	upgrade=$!
	while kill -0 "$upgrade" 2>/dev/null; do
		run_marker
		sleep 0.02
	done
	wait "$upgrade" || ended=$?
	verdict "$name" eval "cat $log; (($ended == 0))"
	verdict "$name: the probe is another" within 60 is_another_than "$probe" tracer-probe
	verdict "$name: the correlator is another" within 60 is_another_than "$correlator" tracer-correlator
	verdict "$name: the commands of that time are there once" within 60 is_stored
	verdict "$name: commands ran meanwhile" [ "$runs" -gt "$before" ]
}

# machine_begin: the container's own boot ID, which units with a separate /proc do not see; the markers.
machine_begin() {
	umount /proc/sys/kernel/random/boot_id
	mkdir "$markers"
	cp /bin/true /opt/check/marker
}

# --- of packages, which are in $packages ----------------------------------------------

# packages_alter DIRECTORY SCRIPT: the packages, with other control files: a build before or after this one.
packages_alter() {
	local package at
	mkdir -p "$1"
	for package in "$packages"/*.deb; do
		at=$(mktemp -d)
		dpkg-deb --raw-extract "$package" "$at/root" &&
			(cd "$at/root/DEBIAN" && sed -i "$2" control preinst 2>/dev/null || [[ ! -e preinst ]]) &&
			dpkg-deb --root-owner-group -Znone --build "$at/root" "$1/${package##*/}" || return
		rm -rf "$at"
	done
}

# found: files of packages, by name; /var/lib/dpkg and the journal have their own.
found() {
	find / -xdev \( -path /opt/check -o -path "$packages" -o -path /tmp -o -path /var/lib/dpkg -o -path /var/lib/apt -o \
		-path /var/cache -o -path /var/log -o -path /proc -o -path /sys/devices \) -prune -o -name '*tracer*' -print
	find /sys/fs/bpf -name '*tracer*' 2>/dev/null
}

# nothing_runs: no service, pin or program; what `remove` leaves is data, configuration, and that a unit was enabled.
nothing_runs() {
	local left
	left=$(
		find /sys/fs/bpf /run/tracer /usr -name '*tracer*' 2>/dev/null
		systemctl list-units --all --no-legend --state=loaded 'tracer-*'
		grep -h '^tracer' /proc/[0-9]*/comm
	)
	echo "left: $left"
	[[ -z $left ]]
}

everything_is_gone() {
	local left
	nothing_runs || return
	left=$(
		found
		systemctl list-units --all --no-legend 'tracer-*'
		getent passwd | grep -i tracer
		getent group | grep tracer
		dpkg-query -W -f '${Package} ${Status}\n' | grep ^tracer
		ls -d /etc/tracer 2>/dev/null
	)
	echo "left: $left"
	[[ -z $left ]]
}
