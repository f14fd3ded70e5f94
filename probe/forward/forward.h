/* What the probe does after it has dropped its privileges: it sends events from the ring and process
 * scans to the stream, and frees the ring on acknowledgement. It does not interpret events.
 *
 * This folder is independent of loading and attaching (probe/) and of libbpf: it works on mapped
 * memory and open descriptors.
 */
#pragma once

#include "probe/forward/device.h"
#include "probe/forward/host.h"
#include "probe/forward/ring.h"
#include "probe/forward/stream.h"

/* The kernel side, as it is accessible without privileges. */
struct forward_source {
	struct ring ring;
	struct control *control; /* shared with the kernel side, as are the losses */
	struct loss_slot *losses;
	int iterator[2];              /* links to create iterators from: processes, and devices they hold open */
	bool iterators_are_files;     /* these are files of iterators instead, each to be opened for a scan */
	uint32_t *device_majors;      /* also shared: major numbers of those devices */
	struct device_majors devices; /* of these, those requested by number */
	int devices_fd;               /* /proc/devices, for the others */
	int arguments_fd;             /* see arguments.h; -1: arguments of running processes are unknown */
};

#define FORWARD_PIECE_BYTES (32 * 1024) /* the most that a kernel iterator writes at once */

/* The largest sample with all its text, padded to 8 bytes. */
#define FORWARD_SAMPLE_BYTES_MAX (sizeof(struct record_exec) + 2 * RECORD_CWD_MAX + RECORD_ARGV_MAX + 8)

struct forward {
	struct forward_source *source;
	struct stream stream;
	struct wire_message hello;
	struct host host;

	uint64_t period_ns;     /* between process scans */
	uint64_t lease_ns;      /* how long collection continues without this process */
	uint64_t until_boot_ns; /* stop at this time; 0: only on a signal */
	int ready_fd;           /* written to once, after the first scan has been sent; or -1 */

	/* The current scan: its iterators are read one after the other. */
	bool is_scanning;
	int scan_fd; /* of the iterator; -1: the next one is to be created */
	int scan_iterator, scan_iterator_count;
	struct wire_message scan;
	_Alignas(8) char piece[FORWARD_PIECE_BYTES + FORWARD_SAMPLE_BYTES_MAX];
	size_t piece_kept; /* bytes of it: the beginning of an incomplete record */
	uint64_t next_scan_boot_ns;
	uint64_t scan_begin_cpu_ns;
	uint64_t next_slow_boot_ns; /* of the next scan with all iterators */

	/* The text of all processes is sent after WELCOME and after losses, in as many scans as it
	 * takes, since events wait during each. */
	uint32_t text_from;        /* the next scan has text from this pid on; 0: none */
	bool text_is_over;         /* in the current scan */
	uint64_t text_end_boot_ns; /* when that happens; 0: no text yet */
	bool losses_want_text;
	uint64_t next_loss_text_boot_ns;

	struct loss_slot losses_sent[LOSS_SLOTS]; /* as last sent to the receiver, */
	uint64_t losses_position;                 /* before the event at this position */

	uint64_t answered_boot_ns; /* when the latest answer was taken */

	uint64_t drain_deadline_boot_ns; /* 0: not stopping; else stop then, unless more is freed before */
	uint64_t drain_position;         /* or when the ring has been acknowledged up to there */
	bool drain_sent; /* up to there, and the stream has ended: the receiver commits and acknowledges at once */
};

/* Fills in `hello`: facts about the host and the ring. Reads files, so it must be called
 * before the sandbox is entered. Text is kept in static memory. */
void forward_fill_hello(struct forward *forward);

/* Runs until SIGTERM, SIGINT or `until_boot_ns`; then delivers what the ring holds, and the losses,
 * as long as the receiver acknowledges some of it every five seconds. Both signals must be
 * blocked. Returns 0 or a negative errno. */
int forward_run(struct forward *forward);
