/* Programs that do nothing, on the tracepoints that Tracer hooks: the cost of the call alone. */
#include "bpf/kernel.h"

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

/* empty.c derives the tracepoint from the name. */
#define EMPTY(tracepoint) \
	SEC("tp_btf/" #tracepoint) int empty_##tracepoint(void *context) \
	{ \
		return 0; \
	}

EMPTY(sched_process_fork)
EMPTY(sched_process_exec)
EMPTY(sched_process_exit)
EMPTY(sched_process_free)
EMPTY(signal_generate)
EMPTY(sock_send_length)
EMPTY(sock_recv_length)
