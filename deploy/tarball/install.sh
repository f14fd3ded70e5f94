#!/bin/sh
# Installs Tracer from this directory as services of this host: see usage() below.
# shellcheck disable=SC2086 # lists are words
set -eu

prefix=/usr/local
list=$prefix/share/tracer/installed # what --remove removes; only root may write it
units='tracer-probe tracer-correlator tracer-shipper' # the shipper waits for /etc/tracer/shipper.yaml
optional='tracer-sampler-drm tracer-sampler-nvidia tracer-serve' # their user enables them
users='tracer-shipper tracer-sampler tracer-probe tracer'
data='/var/lib/tracer /var/lib/tracer-shipper /etc/tracer'

usage() {
	cat <<-END
	usage: ./install.sh [--no-start] | --remove [--purge]

	Checks the files of this directory, copies them to $prefix, creates users, and
	starts the services: from then on every run on this host is recorded. From a newer
	directory it upgrades. Needs root and systemd.

	  --no-start  do not enable and start the services
	  --remove    stop the services and remove the files; keeps the users and
	              $data
	  --purge     remove those too; what was recorded is deleted
	END
}

fail() { echo "install.sh: $1" >&2 && exit "${2:-1}"; } # TEXT [STATUS]

is_ours() { getent passwd "$1" | cut -d: -f5 | grep -q '^Tracer '; } # USER: an installation has created it

check() {
	[ -d /run/systemd/system ] || fail "systemd does not run here; without services: bin/tracer run -- COMMAND"
	sha256sum --quiet --check SHA256SUMS || fail "a file is not as it was packed"
	bin/tracer --version >/dev/null || fail "these programs do not run on this processor"
	[ ! -e /usr/sbin/tracer-probe ] || fail "a package of Tracer is installed: remove it first"
	for user in $users; do
		is_ours "$user" || ! { getent passwd "$user" || getent group "$user"; } >/dev/null ||
			fail "the user or group $user exists and is not Tracer's"
	done
}

# Through tar, which replaces the files of running programs. Files that only an older version had are removed.
install_files() {
	before=$(cat "$list" 2>/dev/null || true)
	tar -cf - bin sbin libexec lib share | (umask 022 && tar -C "$prefix" -xf - --no-same-owner)
	find bin sbin libexec lib share -type f | sed "s|^|$prefix/|" | sort >"$list"
	printf '%s\n' "$before" | grep -vxFf "$list" | remove_files
	systemd-sysusers "$prefix/lib/sysusers.d/tracer.conf" "$prefix/lib/sysusers.d/tracer-shipper.conf"
	systemctl daemon-reload
}

# Removes those of the files on standard input that Tracer can have installed, and its directories that are empty then.
remove_files() {
	{ grep -E "^$prefix/.*/_?tracer" | grep -vE '/\.\.?(/|$)' || true; } | while read -r file; do
		rm -f -- "$file"
		while file=${file%/*} && case $file in "$prefix"/*/tracer*) rmdir -- "$file" 2>/dev/null ;; *) false ;; esac; do :; done
	done
}

start() {
	systemctl enable --quiet $units
	systemctl stop $units # not restart: a limit of starts may have been reached
	systemctl reset-failed $units 2>/dev/null || true
	systemctl start $units || fail "installed, but a service does not start: 'tracer doctor' says what is missing"
	systemctl try-restart $optional || true
	echo "Every run is recorded now: see 'tracer status', 'tracer runs'"
}

remove() {
	systemctl disable --quiet --now $units $optional || true
	"$prefix/sbin/tracer-probe" --detach || true
	{ cat "$list" && echo "$list"; } | remove_files
	systemctl daemon-reload
	systemctl reset-failed 'tracer-*' 2>/dev/null || true
}

purge() {
	rm -rf $data /etc/systemd/system/tracer-*.service.d
	for user in $users; do
		is_ours "$user" || continue
		userdel "$user"
		! getent group "$user" >/dev/null || groupdel "$user"
	done
}

cd "$(dirname "$0")"
[ "$*" != --help ] || { usage && exit; }
[ "$(id -u)" = 0 ] || fail "needs root; see --help"
case $* in
'' | --no-start) check; install_files; [ -n "$*" ] || start ;;
--remove) [ -f "$list" ] || fail "not installed: $list does not exist"; remove ;;
'--remove --purge') [ ! -f "$list" ] || remove; purge ;;
*) fail "unknown arguments $*; see --help" 2 ;;
esac
