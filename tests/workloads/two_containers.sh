#!/bin/bash
# A script that runs two containers in parallel, each in its own working directory as workflow
# engines do, then three of the same directory by xargs, between two steps of its own.
#   two_containers.sh IMAGE COMMAND...      COMMAND: the client and its options, `docker run --rm`
set -euo pipefail

image=$1
shift

# in_container DIRECTORY PROGRAMS: the command for the image's shell.
in_container() {
	cd "$1"
	exec "${command[@]}" --volume "$PWD:$PWD" --workdir "$PWD" "$image" sh -c "$2"
}

command=("$@")
prepare --cpu 20
mkdir one two
in_container one 'assemble --cpu 20 --namespaces; polish --cpu 20; true' &
in_container two 'scan --cpu 20 --namespaces; merge --cpu 20; true' &
wait %1
wait %2
xargs -P3 -n1 "${command[@]}" "$image" count --cpu <<<'10 20 30'
conclude --cpu 20
