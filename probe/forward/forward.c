/* See forward.h. */
#include "probe/forward/forward.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include <linux/bpf.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/ready.h"
#include "probe/forward/arguments.h"

/* The ring does not wake the probe: it is read this often. At 16 MiB it holds over 20,000
 * processes, many times what a host starts in that time. */
#define READ_PERIOD_NS 200000000LL
#define SLOW_PERIOD_NS 10000000000ULL      /* between scans of descriptors: devices, files */
#define SCAN_SHARE 500                     /* one part in so many of a processor: 0.2 % */
#define SLOW_SCAN_SHARE 1000               /* and of scans of descriptors */
#define LEAVING_PERIOD_NS 2000000LL        /* READ_PERIOD_NS while draining */
#define DRAIN_NS 5000000000ULL             /* limit without an acknowledgement that frees records */
#define BATCH_BYTES (256 * 1024)           /* of events, collected before they are written */
#define ANSWERS_MAX 1024                   /* taken at a time: a peer that keeps sending delays nothing, */
#define ANSWERS_PERIOD_NS 20000000LL       /* nor does it wake the probe more often than that */
#define TEXT_SLICE_NS 500000000ULL         /* a scan sends text for that long: events wait meanwhile */
#define LOSS_IDLE_NS 2000000000ULL         /* slots whose loss goes on are not released */
#define LOSS_TEXT_PERIOD_NS 10000000000ULL /* losses do not request text again sooner */

static volatile sig_atomic_t stopping;

static void on_signal(int number)
{
	stopping = number;
}

/* The only bpf(2) command that needs no privileges and that the sandbox allows; before Linux 5.19 there is none. */
static int iterator_make(const struct forward_source *source, int index)
{
	union bpf_attr attributes = {.iter_create.link_fd = (uint32_t)source->iterator[index]};
	char path[32];

	if (!source->iterators_are_files)
		return (int)syscall(SYS_bpf, BPF_ITER_CREATE, &attributes, sizeof(attributes));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", source->iterator[index]);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Returns the first line of a file in /proc or /etc, empty if there is none. */
static struct wire_bytes file_line(const char *path, char *line, size_t capacity)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t size = fd < 0 ? 0 : read(fd, line, capacity);

	if (fd >= 0)
		close(fd);
	const char *end = size > 0 ? memchr(line, '\n', (size_t)size) : NULL;
	return (struct wire_bytes){line, (uint32_t)(end ? end - line : size > 0 ? size : 0)};
}

static struct wire_bytes text_bytes(const char *text)
{
	return (struct wire_bytes){text, (uint32_t)strlen(text)};
}

static void hello_refresh(struct forward *forward)
{
	struct wire_hello *hello = &forward->hello.hello;

	host_read(&forward->host);
	hello->hostname = text_bytes(forward->host.name);
	hello->cpu_count = forward->host.processor_count;
	hello->ring_epoch = forward->source->control->ring_epoch;
	hello->consumer_offset = *forward->source->ring.consumer;
	hello->boot_ns = clock_boot_ns();
	hello->unix_ns = clock_unix_ns();
}

void forward_fill_hello(struct forward *forward)
{
	static struct utsname names;
	static char boot_id[64], host_id[64];
	struct sysinfo system = {0};

	uname(&names);
	sysinfo(&system);
	host_open(&forward->host, "/proc/sys/kernel/hostname", "/sys/devices/system/cpu/online");
	forward->hello.type = WIRE_HELLO;
	forward->hello.hello = (struct wire_hello){
		.version = WIRE_VERSION,
		.record_version = RECORD_VERSION,
		.memory_bytes = (uint64_t)system.totalram * system.mem_unit,
		.boot_id = file_line("/proc/sys/kernel/random/boot_id", boot_id, sizeof(boot_id)),
		.host_id = file_line("/etc/machine-id", host_id, sizeof(host_id)),
		.kernel = text_bytes(names.release),
		.machine = text_bytes(names.machine),
		.probe_version = text_bytes(TRACER_VERSION),
	};
	hello_refresh(forward);
}

/* Returns true if there may be more. */
static bool events_send(struct forward *forward)
{
	struct wire_message message = {.type = WIRE_EVENT};
	struct wire_bytes *record = &message.event.record;
	size_t size;

	while (forward->stream.output.size < BATCH_BYTES) {
		if (!ring_next(&forward->source->ring, (const void **)&record->data, &size, &message.event.offset))
			return false;
		record->size = (uint32_t)size;
		stream_send(&forward->stream, &message);
	}
	return true;
}

/* Sends all slots if any has grown since the last time; the receiver finds out which are new. A
 * scan with text may make up for what was lost. */
static void losses_send(struct forward *forward)
{
	bool more = false;

	for (int i = 0; i < LOSS_SLOTS; i++) {
		const struct loss_slot *slot = &forward->source->losses[i];
		uint64_t count = __atomic_load_n(&slot->count, __ATOMIC_ACQUIRE);

		if (count == forward->losses_sent[i].count)
			continue;
		forward->losses_sent[i] = *slot;
		forward->losses_sent[i].count = count; /* as read first: the other fields were set by then */
		more = true;
	}
	if (!more)
		return;
	struct wire_message message = {.type = WIRE_LOSSES};
	message.losses.slots = (struct wire_bytes){(char *)forward->losses_sent, sizeof(forward->losses_sent)};
	stream_send(&forward->stream, &message);
	forward->losses_position = forward->source->ring.position;
	forward->losses_want_text = true;
}

/* Releases slots when most are in use, so that what others lose later is attributed, too. What was last sent is stored
 * once a later event is acknowledged. A loss counted just now in a slot that is released may count for the next one. */
static void losses_release(struct forward *forward, uint64_t now_boot_ns)
{
	struct loss_slot *slots = forward->source->losses;
	int used = 0;

	for (int i = 0; i < LOSS_HASHED; i++)
		used += slots[i].type != 0;
	if (used <= LOSS_HASHED / 2 || *forward->source->ring.consumer <= forward->losses_position)
		return;
	for (int i = 0; i < LOSS_HASHED; i++) {
		if (slots[i].type == 0 || slots[i].count != forward->losses_sent[i].count ||
		    slots[i].last_boot_ns + LOSS_IDLE_NS > now_boot_ns)
			continue;
		slots[i].count = forward->losses_sent[i].count = 0;
		slots[i].type = 0;
		__atomic_store_n(&slots[i].first_boot_ns, 0, __ATOMIC_RELEASE);
	}
}

/* Drivers may be loaded or unloaded at any time. */
static void devices_refresh(const struct forward_source *source)
{
	struct device_majors now = source->devices;

	device_majors_find(&now, source->devices_fd);
	memcpy(source->device_majors, now.major, sizeof(now.major));
}

/* Text describes processes whose records were lost. Rate-limited, since losses may go on. */
static void losses_ask_for_text(struct forward *forward, uint64_t now_boot_ns)
{
	if (!forward->losses_want_text || forward->text_from || now_boot_ns < forward->next_loss_text_boot_ns)
		return;
	forward->text_from = 1;
	forward->losses_want_text = false;
	forward->next_loss_text_boot_ns = now_boot_ns + LOSS_TEXT_PERIOD_NS;
}

static void scan_begin(struct forward *forward, uint64_t now_boot_ns)
{
	losses_ask_for_text(forward, now_boot_ns);
	bool with_text = forward->text_from != 0;
	bool is_slow = with_text || now_boot_ns >= forward->next_slow_boot_ns;

	forward->is_scanning = true;
	forward->scan_iterator = 0;
	forward->scan_iterator_count = is_slow ? 2 : 1;
	forward->scan = (struct wire_message){
		.type = WIRE_SCAN,
		.scan =
			{
				.boot_ns = now_boot_ns,
				.unix_ns = clock_unix_ns(),
				.with_text = with_text,
				.ring_offset = forward->source->ring.position,
				.backlog_bytes = ring_backlog_bytes(&forward->source->ring),
			},
	};
	forward->source->control->sample_text = forward->text_from;
	forward->text_from = 0;
	forward->text_is_over = false;
	forward->text_end_boot_ns = 0;
	forward->piece_kept = 0;
	forward->next_scan_boot_ns = now_boot_ns + forward->period_ns;
	forward->scan_begin_cpu_ns = clock_cpu_ns();
	if (is_slow) {
		devices_refresh(forward->source);
		forward->next_slow_boot_ns = now_boot_ns + SLOW_PERIOD_NS;
	}
}

static void scan_abort(struct forward *forward)
{
	if (forward->scan_fd >= 0)
		close(forward->scan_fd);
	forward->scan_fd = -1;
	forward->is_scanning = false;
}

/* If a scan is expensive, with very many processes or descriptors, the next one of these is delayed: neither kind takes
 * more than its share. */
static void scan_delay(struct forward *forward, uint64_t *next_boot_ns, uint64_t share)
{
	uint64_t now_cpu_ns = clock_cpu_ns();
	uint64_t cost_ns = now_cpu_ns - forward->scan_begin_cpu_ns;
	uint64_t delayed_boot_ns = forward->scan.scan.boot_ns + cost_ns * share;

	forward->scan_begin_cpu_ns = now_cpu_ns;
	if (!forward->scan.scan.with_text && delayed_boot_ns > *next_boot_ns)
		*next_boot_ns = delayed_boot_ns;
}

/* Events waited meanwhile: they are sent for as long before the next scan. */
static void scan_rest(struct forward *forward)
{
	uint64_t now_boot_ns = clock_boot_ns();
	uint64_t rested_boot_ns = now_boot_ns + (now_boot_ns - forward->scan.scan.boot_ns);

	if (rested_boot_ns > forward->next_scan_boot_ns)
		forward->next_scan_boot_ns = rested_boot_ns;
}

static void scan_end(struct forward *forward)
{
	forward->is_scanning = false;
	scan_rest(forward);
	losses_send(forward);
	losses_release(forward, forward->scan.scan.boot_ns);
	stream_send(&forward->stream, &forward->scan);
	stream_flush(&forward->stream);
	ready_notify(&forward->ready_fd);
}

/* The next scan continues with this process. */
static void text_end(struct forward *forward, uint32_t pid)
{
	forward->text_is_over = true;
	forward->text_from = pid;
	forward->source->control->sample_text = 0;
}

/* `record` has room for the largest sample. Returns its size afterwards. */
static uint32_t arguments_add(struct forward *forward, struct record_exec *record)
{
	char *end = (char *)record + record->header.size;
	uint64_t now_boot_ns = clock_boot_ns();
	uint32_t flags;

	/* From the first text on: it may take long to get to where the previous scan ended. */
	if (!forward->text_end_boot_ns)
		forward->text_end_boot_ns = now_boot_ns + TEXT_SLICE_NS;
	if (!forward->text_is_over && now_boot_ns > forward->text_end_boot_ns)
		text_end(forward, record->header.image.pid);
	if (forward->text_is_over || record->header.size > FORWARD_SAMPLE_BYTES_MAX - RECORD_ARGV_MAX)
		return record->header.size;
	size_t size = arguments_read(forward->source->arguments_fd, &record->header.image, end, &flags);
	if (size) {
		record->context.flags = (record->context.flags & ~RECORD_ARGV_UNKNOWN) | flags;
		record->argv_size = (uint32_t)size;
		record->header.size += (uint32_t)size;
	}
	return record->header.size;
}

static void samples_send(struct forward *forward, const char *records, size_t size)
{
	struct wire_message message = {.type = WIRE_SAMPLE, .sample.records = {records, (uint32_t)size}};
	if (size)
		stream_send(&forward->stream, &message);
}

static size_t padded(size_t size)
{
	return (size + 7) & ~(size_t)7;
}

/* Sends what an iterator wrote, with arguments added. An incomplete record is kept until the rest
 * of it arrives. Returns false, with errno set, if these are not records. */
static bool piece_send(struct forward *forward, size_t size)
{
	static _Alignas(8) char out[FORWARD_PIECE_BYTES + FORWARD_SAMPLE_BYTES_MAX];
	size_t used = 0, at = 0;

	while (size - at >= sizeof(struct record_header)) {
		const struct record_header *header = (const void *)(forward->piece + at);
		uint32_t record_size = header->size;

		if (record_size < sizeof(*header) || padded(record_size) > FORWARD_SAMPLE_BYTES_MAX) {
			errno = EBADMSG;
			return false;
		}
		if (padded(record_size) > size - at)
			break;
		memcpy(out + used, header, record_size);
		at += padded(record_size);
		struct record_exec *record = (void *)(out + used);
		if (header->type == RECORD_SAMPLE && record->context.flags & RECORD_ARGV_UNKNOWN)
			record_size = arguments_add(forward, record);
		memset(out + used + record_size, 0, padded(record_size) - record_size);
		used += padded(record_size);
		if (used < FORWARD_PIECE_BYTES)
			continue;
		samples_send(forward, out, used);
		used = 0;
	}
	samples_send(forward, out, used);
	forward->piece_kept = size - at;
	memmove(forward->piece, forward->piece + at, forward->piece_kept);
	return true;
}

/* Sends one piece of the scan. No event is sent during a scan, so that every event after it
 * is beyond its ring_offset. */
static void scan_continue(struct forward *forward)
{
	char *room = forward->piece + forward->piece_kept;
	ssize_t size;

	if (forward->scan_fd < 0 && forward->scan_iterator == forward->scan_iterator_count) {
		scan_end(forward);
		return;
	}
	if (forward->scan_fd < 0)
		forward->scan_fd = iterator_make(forward->source, forward->scan_iterator++);
	size = forward->scan_fd < 0 ? -1 : read(forward->scan_fd, room, FORWARD_PIECE_BYTES);
	if (size > 0 && piece_send(forward, forward->piece_kept + (size_t)size))
		return;
	if (size == 0) {
		close(forward->scan_fd);
		forward->scan_fd = -1;
		if (forward->scan_iterator == 1)
			scan_delay(forward, &forward->next_scan_boot_ns, SCAN_SHARE);
		else
			scan_delay(forward, &forward->next_slow_boot_ns, SLOW_SCAN_SHARE);
	} else if (errno != EAGAIN && errno != EINTR) {
		/* Possibly in the middle of a record: only a new connection helps. */
		log_error("cannot scan processes: %s", strerror(errno));
		scan_abort(forward);
		stream_fail(&forward->stream, "a process scan was aborted");
	}
}

/* A receiver has connected: continue from what it has, and send everything that it cannot know. */
static void connection_begin(struct forward *forward, uint64_t ring_epoch, uint64_t offset)
{
	struct forward_source *source = forward->source;

	scan_abort(forward);
	ring_seek(&source->ring, ring_epoch == source->control->ring_epoch ? offset : 0);
	source->control->connection++;
	forward->text_from = 1;
	forward->next_scan_boot_ns = 0;
	memset(forward->losses_sent, 0, sizeof(forward->losses_sent));
}

/* A probe that is stopping stays as long as what is left is being acknowledged. */
static void records_free(struct forward *forward, uint64_t offset)
{
	struct ring *ring = &forward->source->ring;
	uint64_t before = *ring->consumer;

	ring_free_before(ring, offset);
	if (forward->drain_deadline_boot_ns && *ring->consumer > before)
		forward->drain_deadline_boot_ns = clock_boot_ns() + DRAIN_NS;
}

static void answers_take(struct forward *forward)
{
	struct wire_message message;

	for (int i = 0; i < ANSWERS_MAX && stream_receive(&forward->stream, &message); i++) {
		forward->answered_boot_ns = clock_boot_ns();
		if (message.type == WIRE_WELCOME) {
			log_info("connected");
			connection_begin(forward, message.welcome.ring_epoch, message.welcome.offset);
			continue;
		}
		records_free(forward, message.ack.offset);
	}
}

/* The name and the processors of the host are in `hello`, so a new connection reports that they changed: it loses nothing. */
static void host_check(struct forward *forward, uint64_t now_boot_ns)
{
	if (forward->stream.path && forward->stream.is_ready && !forward->is_scanning &&
	    !forward->drain_deadline_boot_ns && now_boot_ns >= forward->next_slow_boot_ns && host_read(&forward->host))
		stream_fail(&forward->stream, "the host has another name or other processors");
}

/* Sends nothing new while earlier output has not been accepted. Returns true if there is more to do
 * now. When the receiver accepts output, more follows at once: waiting for the next period would
 * leave both daemons idle while the ring overflows. */
static bool forward_step(struct forward *forward, uint64_t now_boot_ns)
{
	struct stream *stream = &forward->stream;
	bool more = false;

	forward->source->control->lease_boot_ns = now_boot_ns + forward->lease_ns;
	host_check(forward, now_boot_ns);
	if (stream->fd < 0) {
		hello_refresh(forward);
		stream_connect(stream, &forward->hello);
	}
	answers_take(forward);
	stream_flush(stream);
	if (stream->is_ready && !stream_has_output(stream) && !forward->drain_sent) {
		if (!forward->is_scanning && !forward->drain_deadline_boot_ns &&
		    now_boot_ns >= forward->next_scan_boot_ns)
			scan_begin(forward, now_boot_ns);
		more = forward->is_scanning || events_send(forward);
		if (forward->is_scanning)
			scan_continue(forward);
	}
	stream_flush(stream);
	/* Nobody acknowledges a recording: what is written can be freed. */
	if (!stream->path && !stream_has_output(stream))
		ring_free_before(&forward->source->ring, UINT64_MAX);
	return more && stream->is_ready;
}

/* Sleep until the peer is ready, a signal arrives, or the ring is due to be read. */
static void forward_wait(const struct forward *forward, bool more)
{
	const struct stream *stream = &forward->stream;
	bool blocked = stream_has_output(stream);
	struct pollfd peer = {.fd = stream->path ? stream->fd : -1, .events = POLLIN};
	bool is_leaving = forward->drain_deadline_boot_ns && !forward->drain_sent;
	struct timespec timeout = {0, more && !blocked ? 0 : is_leaving ? LEAVING_PERIOD_NS : READ_PERIOD_NS};
	sigset_t none;

	if (forward->drain_sent && !stream->is_ready)
		return;
	if (!is_leaving && clock_boot_ns() < forward->answered_boot_ns + ANSWERS_PERIOD_NS) {
		peer.events = 0;
		if (timeout.tv_nsec > ANSWERS_PERIOD_NS)
			timeout.tv_nsec = ANSWERS_PERIOD_NS;
	}
	if (blocked)
		peer.events |= POLLOUT;
	sigemptyset(&none);
	ppoll(&peer, 1, &timeout, &none);
}

/* Ends the stream once the ring has been sent up to drain_position. */
static void drain_send(struct forward *forward)
{
	struct stream *stream = &forward->stream;

	if (forward->drain_sent || forward->is_scanning || stream_has_output(stream) ||
	    forward->source->ring.position < forward->drain_position)
		return;
	losses_send(forward); /* since the last scan: without pins they could not be reported later */
	stream_flush(stream);
	if (!stream->is_ready || stream_has_output(stream))
		return;
	stream_end(stream);
	forward->drain_sent = true;
}

static bool forward_is_done(struct forward *forward, uint64_t now_boot_ns)
{
	const struct ring *ring = &forward->source->ring;

	if (!stopping && (!forward->until_boot_ns || now_boot_ns < forward->until_boot_ns))
		return false;
	if (!forward->drain_deadline_boot_ns) {
		forward->drain_deadline_boot_ns = now_boot_ns + DRAIN_NS;
		forward->drain_position = ring->position + ring_backlog_bytes(ring);
	}
	if (!forward->stream.is_ready || now_boot_ns >= forward->drain_deadline_boot_ns)
		return true;
	drain_send(forward);
	return forward->drain_sent && *ring->consumer >= forward->drain_position;
}

int forward_run(struct forward *forward)
{
	struct sigaction action = {.sa_handler = on_signal};
	uint64_t now_boot_ns = clock_boot_ns();

	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	int iterator = iterator_make(forward->source, 0);
	if (iterator < 0) {
		log_error("cannot scan processes without privileges: %s", strerror(errno));
		return -ENOTSUP;
	}
	close(iterator);
	ready_notify_manager(); /* it collects, also while there is no correlator */
	forward->scan_fd = -1;
	if (!forward->stream.path)
		connection_begin(forward, 0, 0);
	for (; !forward_is_done(forward, now_boot_ns); now_boot_ns = clock_boot_ns()) {
		bool more = forward_step(forward, now_boot_ns);

		if (!forward->stream.path && forward->stream.fd < 0)
			return -EIO;
		ready_notify_alive(now_boot_ns);
		forward_wait(forward, more);
	}
	if (*forward->source->ring.consumer < forward->drain_position)
		log_info("%llu bytes in the ring are not acknowledged",
			 (unsigned long long)(forward->drain_position - *forward->source->ring.consumer));
	return 0;
}
