/* All messages to and from tracer-correlator: of tracer-probe, and of samplers on a socket of their own.
 *
 * The structures in wire.h, the codec (wire.c), the tables of docs/wire.md and the
 * tests are derived from these lists. To add a field, append it to
 * its list and increment WIRE_VERSION, for the messages of samplers SAMPLER_VERSION.
 *
 * A message is a msgpack array [number, field, field, ...]. Field kinds:
 *   U(name)         unsigned integer
 *   T(name)         bytes (msgpack bin)
 *
 * Records of the kernel side are sent as raw bytes (bpf/record.h); the
 * probe does not parse them. correlator/record/ does.
 */
#pragma once

#define WIRE_VERSION 3
#define SAMPLER_VERSION 3

/* First frame of a connection: identifies the probe, its host and its ring. */
#define WIRE_HELLO_FIELDS(U, T) \
	U(version)         /* WIRE_VERSION */ \
	U(record_version)  /* RECORD_VERSION: the layout of the records */ \
	U(ring_epoch)      /* random number that identifies the ring; offsets refer to it */ \
	U(consumer_offset) /* lowest offset that is still in the ring */ \
	U(boot_ns)         /* CLOCK_BOOTTIME now */ \
	U(unix_ns)         /* CLOCK_REALTIME at the same moment */ \
	U(cpu_count)       /* online processors */ \
	U(memory_bytes)    /* sysinfo.totalram */ \
	T(boot_id)         /* /proc/sys/kernel/random/boot_id */ \
	T(host_id)         /* /etc/machine-id; empty if it does not exist */ \
	T(hostname)        /* uname.nodename */ \
	T(kernel)          /* uname.release */ \
	T(machine)         /* uname.machine */ \
	T(probe_version)   /* release of the probe */

/* Reply to `hello`: events before `offset` are committed. */
#define WIRE_WELCOME_FIELDS(U, T) \
	U(version)    /* WIRE_VERSION */ \
	U(ring_epoch) /* that of hello; for another one, the probe would start at consumer_offset */ \
	U(offset)     /* next offset wanted; if below consumer_offset, the probe starts at consumer_offset */

/* Events before `offset` are on disk; the ring may free them. */
#define WIRE_ACK_FIELDS(U, T) U(offset) /* above that of the last committed event, at most that of the next */

/* One record from the ring. */
#define WIRE_EVENT_FIELDS(U, T) \
	U(offset) /* position of the record in the ring */ \
	T(record) /* bytes of the record */

/* Part of the output of the iterators over running processes: not in the ring, so without an
 * offset. Contains whole consecutive records, each padded to 8 bytes. */
#define WIRE_SAMPLE_FIELDS(U, T) T(records) /* bytes of the records */

/* Ends a process scan: a process that it did not report no longer exists. */
#define WIRE_SCAN_FIELDS(U, T) \
	U(boot_ns)       /* when the scan began */ \
	U(unix_ns)       /* wall clock at that moment */ \
	U(with_text)     /* 1: samples include text, for as many processes as time allowed */ \
	U(ring_offset)   /* ring position up to which records were read when the scan began */ \
	U(backlog_bytes) /* bytes in the ring after that position: events older than the scan */

/* Cumulative losses of the kernel side, sent whenever they exceed those last sent on this
 * connection. The receiver remembers the last values; the difference is what is new. */
#define WIRE_LOSSES_FIELDS(U, T) T(slots) /* array of LOSS_SLOTS struct loss_slot (bpf/record.h) */

/* First frame of a sampler: what samples devices of one kind. */
#define WIRE_SAMPLER_FIELDS(U, T) \
	U(version) /* SAMPLER_VERSION */ \
	T(name)    /* kind of its devices, such as nvidia: their names begin with it */ \
	T(driver)  /* version of the driver that it asks, for the log */ \
	T(devices) /* names of all devices that it finds, separated by commas */

/* What one device did for one process in an interval. */
#define WIRE_DEVICE_USE_FIELDS(U, T) \
	U(boot_ns)       /* end of the interval, the same for all devices of a round */ \
	U(interval_ns)   /* its length, at most a minute */ \
	U(pid)           /* in the initial namespace */ \
	U(start_boot_ns) /* start of the process, whole ticks of 10 ms (/proc/PID/stat) */ \
	U(known) /* bits: 1 busy, 2 memory, 4 energy, 8 throttled, 16 capacity, 32 clock, 64 its memory's, 128 memory busy */ \
	U(busy_ns)         /* time that the device worked for the process, at most interval_ns */ \
	U(memory_bytes)    /* memory that it holds there now */ \
	U(energy_uj)       /* energy of the device, if no other process holds it */ \
	T(device)          /* name of the device: the sampler's, and a number */ \
	U(throttled_ns)    /* part of busy_ns in which it had lowered its clocks because of heat or power */ \
	U(capacity_bytes)  /* memory of the device, or of the slice that it was given */ \
	U(clock_ns)        /* busy_ns, times the share of the highest clock at which its processors ran */ \
	U(memory_clock_ns) /* the same of the clock of its memory */ \
	U(memory_busy_ns)  /* time that its memory was read or written for the process, at most interval_ns */

/* An error that a driver reported of a device, once for each process that held it. */
#define WIRE_DEVICE_ERROR_FIELDS(U, T) \
	U(boot_ns)       /* when the driver reported it */ \
	U(pid)           /* in the initial namespace */ \
	U(start_boot_ns) /* start of the process, as in device_use */ \
	U(code)          /* the driver's number of it, 1 to 999: of NVIDIA's, an Xid */ \
	U(holder_count)  /* processes that held the device, 1 to 4096 */ \
	T(device)        /* name of the device: the sampler's, and a number */

/* M(NAME, name, number) */
#define WIRE_MESSAGES(M) \
	M(HELLO, hello, 1) \
	M(WELCOME, welcome, 2) \
	M(ACK, ack, 3) \
	M(EVENT, event, 16) \
	M(SAMPLE, sample, 32) \
	M(SCAN, scan, 33) \
	M(LOSSES, losses, 34) \
	M(SAMPLER, sampler, 48) \
	M(DEVICE_USE, device_use, 49) \
	M(DEVICE_ERROR, device_error, 50)
