/* Loads, attaches and maps the BPF side, so that using it afterwards needs no
 * privileges.
 *
 * With pins (bpffs), maps and hooks outlive the probe. Every start works the same, be it
 * after a kill, a restart or an upgrade: new programs are loaded beside the pinned ones,
 * over the same maps, and attached; one store to control.build makes them collect and
 * the old ones stop; then the old pins are removed.
 */
#pragma once

#include "probe/forward/forward.h"

#define KERNEL_IGNORE_MAX 256

struct kernel_options {
	const char *pin_dir;          /* NULL: nothing outlives this process */
	uint32_t ring_bytes;          /* a power of two, at least one page */
	bool no_network;              /* bytes sent and received are not counted */
	struct device_majors devices; /* reported besides GPUs */
	uint32_t ignore_count;
	struct ignore_key ignore[KERNEL_IGNORE_MAX];
};

struct kernel {
	struct tracer_bpf *programs;
	struct forward_source source;
	int lock; /* on the pin directory, or -1 */
};

/* Returns 0, -EPERM, -EBUSY if another probe has the pins, -ENODEV if there is no BPF
 * filesystem (yet), or another negative errno. A failure has been logged, in one line. */
int kernel_open(struct kernel *kernel, const struct kernel_options *options);
void kernel_close(struct kernel *kernel);

/* Logs how many bytes of the pinned ring wait to be acknowledged, and its size. Returns 0 or a negative errno; logged. */
int kernel_show_ring(const char *pin_dir);

/* Remove every pin: collection ends, and undelivered records are lost. Returns 0 or a
 * negative errno; logged. */
int kernel_detach(const char *pin_dir);
