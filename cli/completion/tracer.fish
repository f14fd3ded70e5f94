# Completion of tracer in fish.
function __fish_tracer
	set -l words (commandline -opc)
	set -l offers (tracer completion offer -- $words[2..] (commandline -ct) 2>/dev/null)
	switch "$offers[1]"
		case :file
			__fish_complete_path (commandline -ct)
		case :directory
			__fish_complete_directories (commandline -ct)
		case :user
			__fish_complete_users
		case ':command*'
			__fish_complete_subcommand --fcs-skip=(string split ' ' $offers[1])[2]
		case '*'
			printf '%s\n' $offers
	end
end
complete -c tracer -f -a '(__fish_tracer)'
