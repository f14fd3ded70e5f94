/* Attaches the programs of empty.bpf.c whose tracepoint this kernel has, until a signal ends it. */
#include <err.h>
#include <signal.h>

#include "empty.skel.h"

static const char *tracepoint_of(const struct bpf_program *program)
{
	return bpf_program__name(program) + strlen("empty_");
}

static struct empty_bpf *programs_load(void)
{
	struct empty_bpf *programs = empty_bpf__open();
	struct bpf_program *program;

	if (!programs)
		err(1, "cannot open the programs");
	bpf_object__for_each_program(program, programs->obj)
	{
		bool known = libbpf_find_vmlinux_btf_id(tracepoint_of(program), BPF_TRACE_RAW_TP) > 0;

		bpf_program__set_autoload(program, known);
	}
	if (empty_bpf__load(programs))
		errx(1, "cannot load the programs");
	return programs;
}

int main(void)
{
	struct empty_bpf *programs = programs_load();
	struct bpf_program *program;
	sigset_t signals;
	int signal;

	bpf_object__for_each_program(program, programs->obj)
	{
		if (bpf_program__autoload(program) && !bpf_program__attach(program))
			err(1, "cannot attach to %s", tracepoint_of(program));
	}
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	sigwait(&signals, &signal);
	empty_bpf__destroy(programs); /* the links end with the process */
	return 0;
}
