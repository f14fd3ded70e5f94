/* The BPF side, loaded and attached: what is left of it is a handful of descriptors
 * and three mappings, which need no privilege.
 *
 * With pins (bpffs), programs, ring and control outlive the probe. A successor of
 * the same build takes them as they are; one of another build goes on with the same
 * ring, if its records are of the same version, and replaces the programs.
 */
#ifndef TRACER_PROBE_KERNEL_H
#define TRACER_PROBE_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/record.h"
#include "probe/device.h"
#include "probe/ring.h"

#define KERNEL_IGNORE_MAX 256

struct kernel_options {
	const char *pin_dir;   /* NULL: nothing outlives this process */
	uint32_t ring_bytes;   /* a power of two and of whole pages */
	bool no_network;       /* bytes sent and received are not counted */
	struct device_majors devices; /* told besides GPUs */
	uint32_t ignore_count;
	struct ignore_key ignore[KERNEL_IGNORE_MAX];
};

/* What this kernel has of what differs between kernels, from its BTF. */
struct kernel_variants {
	bool exit_group_dead;       /* sched_process_exit tells the last thread (6.16) */
	bool iterator_waits;        /* sleepable iterators and reading their user memory (5.18) */
	bool network;               /* sockets tell what was sent and received (6.3) */
};

/* The last two are there with variants.network only. */
enum kernel_hook {
	KERNEL_FORK, KERNEL_EXEC, KERNEL_EXIT, KERNEL_FREE, KERNEL_SIGNAL, KERNEL_SEND,
	KERNEL_RECEIVE, KERNEL_HOOKS,
};

enum kernel_iterator { KERNEL_SAMPLE, KERNEL_DEVICES, KERNEL_ITERATORS };

struct kernel {
	struct ring ring;
	struct control *control;
	struct loss_slot *losses;
	struct kernel_variants variants;
	struct device_majors devices;   /* none: no process needs to be asked */
	int hook[KERNEL_HOOKS];         /* links; -1 where the pins alone hold them */
	int iterator[KERNEL_ITERATORS]; /* links to make iterators of */
	int lock;                       /* on the pin directory, or -1 */
};

/* 0; -ENOENT no BTF; -EPERM; -EBUSY another probe has the pins; -ENOTSUP not a BPF
 * filesystem; another negative errno. What failed has been logged, in one line. */
int kernel_open(struct kernel *kernel, const struct kernel_options *options);
void kernel_close(struct kernel *kernel);

/* Remove every pin: collecting ends, what was not delivered is gone. 0 or negative
 * errno; logged. */
int kernel_detach(const char *pin_dir);

/* -ENOENT: this kernel has no BTF. */
int kernel_variants_read(struct kernel_variants *ret_variants);

#endif
