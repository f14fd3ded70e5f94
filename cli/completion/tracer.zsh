#compdef tracer
# Completion of tracer in zsh. It is loaded from a directory of functions, or read by a user's .zshrc.
_tracer() {
	local -a offers=(${(f)"$(tracer completion offer -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)"})
	case $offers[1] in
	:file) _files ;;
	:directory) _files -/ ;;
	:user) _users ;;
	:command*) shift ${offers[1]#:command } words; ((CURRENT -= ${offers[1]#:command })); _normal ;;
	*) offers=("${(@)offers//:/\\:}") offers=("${(@)offers/$'\t'/:}"); _describe tracer offers ;;
	esac
}
if [[ $funcstack[1] == _tracer ]]; then _tracer "$@"; else compdef _tracer tracer; fi
