# Shared by deploy/install, deploy/quickstart, tests/run and scripts below tests/: packages, a
# quiet build, sudo. Sourced by bash scripts that have set -euo pipefail.
#
# $root is the checkout. The colours are empty unless the output is a terminal.
# shellcheck shell=bash
# shellcheck disable=SC2034 # the callers use them

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
arm64_system=$root/.cache/arm64/bookworm # deploy/arm64 makes both
arm64_cross=$root/.cache/arm64/cross.ini

# The distribution's programs first: its python3 has the packages that are installed here. (Debian's default PATH for
# ordinary users does not include system programs.)
PATH=/usr/bin:$PATH:/usr/local/sbin:/usr/sbin:/sbin

if [[ -t 1 && -z ${NO_COLOR:-} ]]; then
	bold=$'\e[1m' dim=$'\e[2m' red=$'\e[31m' green=$'\e[32m' yellow=$'\e[33m' plain=$'\e[0m'
else
	bold='' dim='' red='' green='' yellow='' plain=''
fi

step() {
	printf '%s==>%s %s\n' "$bold" "$plain" "$*"
}

complain() {
	printf '%s%s:%s %s\n' "$red" "${0##*/}" "$plain" "$*" >&2
}

fail() {
	complain "$@"
	exit 1
}

# Exits with 2 after wrong usage, as the programs do.
misuse() {
	complain "$*; see --help"
	exit 2
}

as_root() {
	if ((EUID == 0)); then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		fail "needs root for: $* (install sudo, or run this as root)"
	fi
}

# as_owner COMMAND...: runs it as the owner of the checkout, so that what is built belongs to
# the owner even under sudo.
as_owner() {
	local owner
	owner=$(stat -c %U "$root")
	if ((EUID == 0)) && [[ $owner != root && $owner != UNKNOWN ]]; then
		setpriv --reuid "$owner" --regid "$(stat -c %g "$root")" --init-groups \
			env HOME="$(getent passwd "$owner" | cut -d: -f6)" "$@"
	else
		"$@"
	fi
}

# show_last_line LOG: shows it until killed, or until this script ends.
show_last_line() {
	while sleep 0.5 && kill -0 $$ 2>/dev/null; do
		printf '\r\e[K    %s%s%s' "$dim" "$(tail -n 1 "$1" | tr -dc '[:print:]' | cut -c 1-72)" "$plain"
	done
}

# run_quietly LOG WHAT COMMAND...: writes the output to LOG; on a terminal shows the last line
# while it runs; shows the end of the output if it fails.
run_quietly() {
	local log=$1 what=$2 ended=0 watcher=''
	shift 2
	if [[ -t 1 ]]; then
		show_last_line "$log" &
		watcher=$!
	fi
	"$@" >>"$log" 2>&1 </dev/null || ended=$?
	if [[ -n $watcher ]]; then
		kill "$watcher" 2>/dev/null || true
		wait "$watcher" 2>/dev/null || true
		printf '\r\e[K'
	fi
	if ((ended)); then
		tail -n 25 "$log" >&2
		fail "$what failed; all of its output is in $log"
	fi
}

# --- packages ---------------------------------------------------------------------------

trim() {
	local text=$1
	text=${text#"${text%%[![:space:]]*}"}
	printf '%s' "${text%"${text##*[![:space:]]}"}"
}

# Ubuntu's bpftool is a script that only finds the one for the running kernel; that of another
# kernel works as well.
use_any_bpftool() {
	local candidate
	bpftool version >/dev/null 2>&1 && return
	for candidate in /usr/lib/linux-tools*/bpftool /usr/lib/linux-tools/*/bpftool; do
		if [[ -x $candidate ]]; then
			PATH=$(dirname "$candidate"):$PATH
			return
		fi
	done
}

requirement_is_met() {
	local kind=$1 name
	shift
	for name in "$@"; do
		case $kind in
		program) command -v "$name" >/dev/null && return ;;
		answers) "$name" version >/dev/null 2>&1 && return ;;
		module) pkg-config --exists "$name" 2>/dev/null && return ;;
		file) compgen -G "$name" >/dev/null && return ;;
		header) gcc -E -x c - <<<"#include <$name>" >/dev/null 2>&1 && return ;;
		esac
	done
	return 1
}

# requirements_unmet PURPOSE...: prints "packages|what for|purpose" for each one missing.
requirements_unmet() {
	local purposes purpose word packages satisfied reason
	local -a words
	use_any_bpftool
	while IFS='|' read -r purposes packages satisfied reason; do
		[[ $purposes == '#'* || -z $satisfied ]] && continue
		purpose=''
		for word in $purposes; do
			[[ " $* " != *" $word "* ]] || purpose=$word
		done
		[[ -n $purpose ]] || continue
		read -r -a words <<<"$satisfied"
		requirement_is_met "${words[@]}" ||
			printf '%s|%s|%s\n' "$(trim "$packages")" "$(trim "$reason")" "$purpose"
	done <"$root/deploy/packages"
}

# requirement_waive PURPOSE PACKAGES REASON: succeeds, with a message, if it is optional.
requirement_waive() {
	[[ $1 == manual || $1 == page || $1 == exports ]] || return
	printf '    %s%s is missing: no %s%s\n' "$yellow" "${2%% *}" "$3" "$plain"
}

# package_choose NAME...: prints the first that the distribution has.
package_choose() {
	local name policy
	for name in "$@"; do
		name=${name//@KERNEL@/$(uname -r)}
		policy=$(LC_ALL=C apt-cache policy "$name" 2>/dev/null || true)
		if [[ $policy == *'Candidate: '[^\(]* ]]; then
			printf '%s\n' "$name"
			return
		fi
	done
	return 1
}

# apt ARGUMENT...: apt-get as root, with the environment's proxies, which sudo leaves out. They are on
# standard input, since arguments can be read by everybody, and a proxy may have a password.
apt() {
	export -p | sed -nE '/^declare -x (all|https?|no)_proxy=/p' | as_root bash -c '
		source /dev/stdin
		DEBIAN_FRONTEND=noninteractive exec apt-get "$@" </dev/null' apt "$@"
}

# apt_way: how apt reaches its mirrors: a likely reason if it cannot. Without the proxy's password.
apt_way() {
	local proxy=''
	eval "$(apt-config shell proxy Acquire::http::Proxy)"
	proxy=${proxy:-${http_proxy:-${https_proxy-}}}
	proxy=${proxy:+through the proxy ${proxy/\/\/*@/\/\/}}
	printf '%s' "${proxy:-without a proxy}"
}

# Runs unattended: keeps changed configuration files, and waits for other installations in
# progress, such as those that a new machine starts automatically.
install_packages() {
	apt install --yes --no-install-recommends -o DPkg::Lock::Timeout=300 \
		-o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold "$@"
}

# without_services COMMAND...: the services of packages that it installs do not start, since their scripts
# ask policy-rc.d. One that is there already stays.
without_services() {
	(
		policy=/usr/sbin/policy-rc.d
		if [[ ! -e $policy ]]; then
			trap 'as_root rm -f "$policy"' EXIT
			printf '#!/bin/sh\nexit 101\n' | as_root install -m 755 /dev/stdin "$policy"
		fi
		"$@"
	)
}

# packages_choose UNMET: sets $chosen to what the distribution has for it; prints what is optional and it has not.
packages_choose() {
	local alternatives reason purpose name
	chosen=()
	while IFS='|' read -r alternatives reason purpose; do
		# shellcheck disable=SC2086 # names are words
		name=$(package_choose $alternatives) || {
			requirement_waive "$purpose" "$alternatives" "$reason" && continue
			lacking="$alternatives ($reason)"
			return 1
		}
		[[ " ${chosen[*]-} " == *" $name "* ]] || chosen+=("$name")
	done <<<"$1"
}

# packages_report: what $chosen will load and take, as far as apt knows.
packages_report() {
	local text
	text=$(LC_ALL=C apt-get install --assume-no --no-install-recommends -o Debug::NoLocking=1 "${chosen[@]}" 2>/dev/null </dev/null |
		sed -nE 's/^[0-9]+ upgraded, ([0-9]+) newly.*/\1 packages/p
			s/^Need to get ([^\/]*)(\/.*)? of archives.*/, \1 to load/p
			s/^After this operation, (.*) of additional.*/, \1 on disk/p' | tr -d '\n') || true
	step "Installing ${chosen[*]} (${text:-sizes in $log})"
}

packages_refresh() {
	as_root true
	apt update -o APT::Update::Error-Mode=any >>"$log" 2>&1 ||
		printf '    %scould not refresh the package lists (%s); using the existing ones%s\n' \
			"$yellow" "$(apt_way)" "$plain"
}

# packages_require INSTALL LOG PURPOSE...: installs what is missing if INSTALL is 1,
# otherwise reports what is missing and fails. Says what it installs before sudo asks for a password, unless there
# are no package lists yet.
packages_require() {
	local install=$1 log=$2 alternatives reason purpose unmet lacking
	local -a chosen=()
	shift 2
	unmet=$(requirements_unmet "$@")
	[[ -z $unmet ]] && return

	if ((!install)); then
		while IFS='|' read -r alternatives reason purpose; do
			! requirement_waive "$purpose" "$alternatives" "$reason" || continue
			# shellcheck disable=SC2086 # names are words
			chosen+=("$(package_choose $alternatives || printf '%s' "${alternatives%% *}")")
		done <<<"$unmet"
		((${#chosen[@]})) || return 0
		fail "missing: $(printf '%s\n' "${chosen[@]}" | sort -u | paste -sd' ')" \
			"(deploy/packages lists purposes and alternatives)"
	fi
	command -v apt-get >/dev/null ||
		fail "can install packages on Debian and Ubuntu only; elsewhere, install those" \
			"in deploy/packages and use --no-install"

	if packages_choose "$unmet"; then
		((!${#chosen[@]})) || packages_report
		packages_refresh
	else
		step "Reading the package lists"
		packages_refresh
		packages_choose "$unmet" || fail "no package of: $lacking"
		((!${#chosen[@]})) || packages_report
	fi
	((${#chosen[@]})) || return 0
	run_quietly "$log" "apt-get install ${chosen[*]} ($(apt_way))" install_packages "${chosen[@]}"

	unmet=$(requirements_unmet "$@" | grep -vE '\|(manual|page|exports)$' || true)
	[[ -z $unmet ]] || fail "still missing after installing: ${unmet//$'\n'/; }"
}

# --- build ------------------------------------------------------------------------------

# head_seconds: the time of HEAD, which packages and archives have instead of that of their build.
head_seconds() {
	git -c safe.directory='*' -C "$root" log -1 --format=%cd --date=unix
}

# version_suffix: what a build between releases has in its version: HEAD's time, and that it is before the release.
version_suffix() {
	git -c safe.directory='*' -C "$root" describe --exact-match >/dev/null 2>&1 ||
		printf '~%s' "$(date -u -d "@$(head_seconds)" +%Y%m%d.%H%M%S)"
}

# static_libraries LOG [arm64]: builds those that the distribution lacks, in $libraries; pkg-config then finds them.
static_libraries() {
	libraries=$root/.cache/libraries
	[[ ${2-} != arm64 ]] || libraries=$arm64_system/opt
	step "Building static libraries (into ${libraries#"$root"/})"
	run_quietly "$1" "the build of libraries" as_owner "$root/deploy/tarball/libraries" "${@:2}"
	export PKG_CONFIG_PATH=$libraries/curl/lib/pkgconfig:$libraries/libmicrohttpd/lib/pkgconfig
}

programs='cli/tracer probe/tracer-probe correlator/tracer-correlator'

# build_packages_missing: what Meson would leave out of a build for want of packages.
build_packages_missing() {
	requirements_unmet build manual test fuzz | cut -d '|' -f 1
}

# build_is_current DIRECTORY MISSING OPTION...: whether it is configured with these options, and when no more was missing.
build_is_current() {
	local directory=$1 missing=$2 option
	shift 2
	[[ -f $directory/build.ninja && $missing == "$(cat "$directory/missing" 2>/dev/null || echo unknown)" ]] || return
	for option in "$@"; do
		[[ $option == *=* ]] || continue # these are of builds that are never asked for without
		option=${option#-[-D]}
		grep -qxF "${option%%=*} = ${option#*=}" "$directory/meson-private/cmd_line.txt" || return
	done
}

# build_setup DIRECTORY LOG OPTION...: configures it, unless it is and the result would be the same: other packages
# or another script may have been there when it was configured.
build_setup() {
	local directory=$1 log=$2 missing
	local -a again=()
	shift 2
	use_any_bpftool
	missing=$(build_packages_missing)
	! build_is_current "$directory" "$missing" "$@" || return 0
	[[ ! -f $directory/build.ninja ]] || again=(--reconfigure)
	run_quietly "$log" "meson setup" as_owner meson setup "${again[@]}" "$directory" "$root" "$@"
	as_owner tee "$directory/missing" >/dev/null <<<"$missing"
}

# build_programs DIRECTORY LOG TARGETS OPTION...: configures it if necessary, and builds what
# changed of TARGETS (a list in one word; '' for everything).
build_programs() {
	local directory=$1 log=$2
	local -a targets
	read -r -a targets <<<"$3"
	shift 3
	build_setup "$directory" "$log" "$@"
	run_quietly "$log" "the build" as_owner ninja -C "$directory" "${targets[@]}"
}
