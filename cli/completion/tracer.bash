# Completion of tracer in bash.
# shellcheck shell=bash
_tracer()
{
	local cur=${COMP_WORDS[COMP_CWORD]} offers
	mapfile -t offers < <(tracer completion offer -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
	COMPREPLY=()
	case ${offers[0]} in
	:file) compopt -o default ;;
	:directory) compopt -o dirnames ;;
	:user) mapfile -t COMPREPLY < <(compgen -u -- "$cur") ;;
	":command $COMP_CWORD") mapfile -t COMPREPLY < <(compgen -c -- "$cur") ;;
	:command*) compopt -o default ;; # arguments of a command complete as files
	*) mapfile -t COMPREPLY < <(compgen -W "${offers[*]%%$'\t'*}" -- "$cur") ;;
	esac
}
complete -F _tracer tracer
