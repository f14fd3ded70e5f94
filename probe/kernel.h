/* The BPF side: loaded, attached, and mapped, so that nothing of it needs a privilege
 * any more.
 *
 * With pins (bpffs), maps and hooks outlive the probe. There is one way to start, be it
 * after a kill, a restart or an upgrade: new programs are loaded beside the pinned ones,
 * over the same maps, and attached; one store into control.build lets them collect, and
 * those of before no more; then the old ones' pins go.
 */
#pragma once

#include "probe/forward/forward.h"

#define KERNEL_IGNORE_MAX 256

struct kernel_options {
	const char *pin_dir;          /* NULL: nothing outlives this process */
	uint32_t ring_bytes;          /* a power of two and of whole pages */
	bool no_network;              /* bytes sent and received are not counted */
	struct device_majors devices; /* told besides GPUs */
	uint32_t ignore_count;
	struct ignore_key ignore[KERNEL_IGNORE_MAX];
};

struct kernel {
	struct tracer_bpf *programs;
	struct forward_source source;
	int lock; /* on the pin directory, or -1 */
};

/* 0; -EPERM; -EBUSY another probe has the pins; -ENOTSUP not a BPF filesystem; another
 * negative errno. What failed has been logged, in one line. */
int kernel_open(struct kernel *kernel, const struct kernel_options *options);
void kernel_close(struct kernel *kernel);

/* Remove every pin: collecting ends, what was not delivered is gone. 0 or negative
 * errno; logged. */
int kernel_detach(const char *pin_dir);
