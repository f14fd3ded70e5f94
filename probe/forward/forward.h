/* What the probe does once its privileges are gone: events from the ring and passes over the
 * living go to the stream, acknowledgements free the ring. It looks into no record.
 *
 * A folder of its own, which knows nothing of loading and attaching (probe/) nor of libbpf:
 * what it works on is memory that is mapped, and descriptors that are open.
 */
#pragma once

#include "probe/forward/device.h"
#include "probe/forward/ring.h"
#include "probe/forward/stream.h"

/* The kernel's side, as it is seen without a privilege. */
struct forward_source {
	struct ring ring;
	struct control *control; /* shared with the kernel's side, as are the losses */
	struct loss_slot *losses;
	int iterator[2];              /* links to make iterators of: processes, and devices that they hold */
	uint32_t *device_majors;      /* shared too: which devices those are */
	struct device_majors devices; /* of these, those that were asked for by number */
	int devices_fd;               /* /proc/devices, for the others */
	int arguments_fd;             /* arguments.h; -1: those of running processes are unknown */
};

#define FORWARD_PIECE_BYTES (32 * 1024) /* as much as the kernel's iterators write at once */

/* A sample with all its text, padded to 8 bytes. */
#define FORWARD_SAMPLE_BYTES_MAX (sizeof(struct record_exec) + 2 * RECORD_CWD_MAX + RECORD_ARGV_MAX + 8)

struct forward {
	struct forward_source *source;
	struct stream stream;
	struct wire_message hello;

	uint64_t period_ns;     /* between process scans */
	uint64_t lease_ns;      /* collecting goes on that long without this process */
	uint64_t until_boot_ns; /* stop then; 0: on a signal */
	int ready_fd;           /* told once, when the first pass has been sent; or -1 */

	/* The pass that is under way: its iterators are read one after the other. */
	bool is_passing;
	int pass_fd; /* of the iterator, -1: the next one is to be made */
	int pass_iterator, pass_iterator_count;
	struct wire_message pass;
	_Alignas(8) char piece[FORWARD_PIECE_BYTES + FORWARD_SAMPLE_BYTES_MAX];
	size_t piece_kept; /* bytes of it: the beginning of a record that is cut */
	uint64_t next_pass_boot_ns;
	uint64_t pass_begin_cpu_ns;
	uint64_t next_slow_boot_ns; /* of a pass with all iterators */

	/* Text of all processes is sent after the welcome and after losses, by as many passes as it
	 * takes: events wait for each. */
	uint32_t text_from; /* the next pass has text from this pid on; 0: none */
	bool text_is_over;  /* of the pass that is under way */
	bool losses_want_text;
	uint64_t next_loss_text_boot_ns;

	struct loss_slot losses_sent[LOSS_SLOTS]; /* as the receiver knows them */

	uint64_t drain_deadline_boot_ns; /* 0: not stopping; else go then, if nothing is freed before */
	uint64_t drain_position;         /* or when the ring has been delivered up to there */
	bool all_sent; /* up to there, and the receiver knows it: it commits and acknowledges at once */
};

/* Facts about the host and the ring for the greeting; reads files, so before the
 * sandbox. Text is kept in static memory. */
void forward_fill_hello(struct forward *forward);

/* Until SIGTERM, SIGINT or `until_boot_ns`; then what the ring holds is delivered, and what
 * was lost, as long as the receiver takes some of it every five seconds. Signals must be
 * blocked. 0 or a negative errno. */
int forward_run(struct forward *forward);
