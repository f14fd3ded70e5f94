/* All messages between tracer-probe and tracer-correlator.
 *
 * The structures in wire.h, the codec (wire.c), the tables of docs/wire.md and the
 * tests are derived from these lists. To add a field, append it to
 * its list and increment WIRE_VERSION.
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

/* First frame of a connection: who sends, from which ring. */
#define WIRE_HELLO_FIELDS(U, T) \
	U(version)         /* WIRE_VERSION */ \
	U(record_version)  /* RECORD_VERSION: the layout of the records */ \
	U(ring_epoch)      /* random number of this ring; offsets belong to it */ \
	U(consumer_offset) /* first offset that the ring still holds */ \
	U(boot_ns)         /* CLOCK_BOOTTIME now */ \
	U(unix_ns)         /* CLOCK_REALTIME at the same moment */ \
	U(cpu_count)       /* online processors */ \
	U(memory_bytes)    /* sysinfo.totalram */ \
	T(boot_id)         /* /proc/sys/kernel/random/boot_id */ \
	T(host_id)         /* /etc/machine-id, empty where there is none */ \
	T(hostname)        /* uname.nodename */ \
	T(kernel)          /* uname.release */ \
	T(machine)         /* uname.machine */ \
	T(probe_version)   /* release of the probe */

/* The answer: events before `offset` are committed. */
#define WIRE_WELCOME_FIELDS(U, T) \
	U(version)    /* WIRE_VERSION */ \
	U(ring_epoch) /* 0: this store never saw the ring */ \
	U(offset)     /* next offset wanted; below consumer_offset: what there is */

/* Events before `offset` are on disk: the ring may free them. */
#define WIRE_ACK_FIELDS(U, T) U(offset) /* above the last committed event's, not above the next one's */

/* One record of the ring. */
#define WIRE_EVENT_FIELDS(U, T) \
	U(offset) /* its position in the ring */ \
	T(record) /* its bytes */

/* A piece of what the iterator over running processes wrote: not in the ring, so without an
 * offset. Records one behind the other, each padded to 8 bytes; one that is cut goes on
 * in the next piece, and the last one is whole when the pass ends. */
#define WIRE_SAMPLE_FIELDS(U, T) T(records) /* their bytes */

/* Ends a process scan: a process that was not in it is gone. */
#define WIRE_PASS_FIELDS(U, T) \
	U(boot_ns)       /* when the pass began */ \
	U(unix_ns)       /* wall clock at that moment */ \
	U(with_text)     /* 1: text fields are filled, of as many as there was time for */ \
	U(ring_offset)   /* ring position read up to when the pass began */ \
	U(backlog_bytes) /* what the ring held behind that: events older than the pass */

/* What the kernel side has dropped so far, whenever that is more than on this connection
 * before. The receiver remembers what it was told, and tells by the difference what is new. */
#define WIRE_LOSSES_FIELDS(U, T) T(slots) /* the bytes of LOSS_SLOTS loss_slot of bpf/record.h */

/* M(NAME, name, number) */
#define WIRE_MESSAGES(M) \
	M(HELLO, hello, 1) \
	M(WELCOME, welcome, 2) \
	M(ACK, ack, 3) \
	M(EVENT, event, 16) \
	M(SAMPLE, sample, 32) \
	M(PASS, pass, 33) \
	M(LOSSES, losses, 34)
