/* The probe's loop. See probe.h. */
#include "probe/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/ready.h"

/* The ring wakes nobody: it is looked at this often. At 16 MiB it holds over 20,000
 * processes, many times what a host starts in that time. */
#define READ_PERIOD_NS 200000000LL
#define SLOW_PERIOD_NS 10000000000ULL /* between looks at what changes seldom: open devices */
#define PASS_SHARE 350 /* of a processor: below 0.3 % */
#define FAREWELL_NS 2000000000ULL
#define BATCH_BYTES (256 * 1024)  /* of events, before they are written */
#define PIECE_BYTES (32 * 1024) /* as much as the kernel's iterators write at once */

static volatile sig_atomic_t stopping;

static void on_signal(int number)
{
	stopping = number;
}

/* One line of a file in /proc or /etc, empty where there is none. */
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

static void hello_refresh(struct probe *probe)
{
	struct wire_hello *hello = &probe->hello.hello;

	hello->ring_epoch = probe->kernel.control->ring_epoch;
	hello->consumer_offset = *probe->kernel.ring.consumer;
	hello->boot_ns = clock_boot_ns();
	hello->unix_ns = clock_unix_ns();
}

void probe_fill_hello(struct probe *probe)
{
	static struct utsname names;
	static char boot_id[64], host_id[64];
	struct sysinfo system = {0};

	uname(&names);
	sysinfo(&system);
	probe->hello.type = WIRE_HELLO;
	probe->hello.hello = (struct wire_hello){
		.version = WIRE_VERSION,
		.record_version = RECORD_VERSION,
		.cpu_count = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN),
		.memory_bytes = (uint64_t)system.totalram * system.mem_unit,
		.boot_id = file_line("/proc/sys/kernel/random/boot_id", boot_id, sizeof(boot_id)),
		.host_id = file_line("/etc/machine-id", host_id, sizeof(host_id)),
		.hostname = text_bytes(names.nodename),
		.kernel = text_bytes(names.release),
		.machine = text_bytes(names.machine),
		.probe_version = text_bytes(TRACER_VERSION),
	};
	hello_refresh(probe);
}

/* True: there are more. */
static bool events_send(struct probe *probe)
{
	struct wire_message message = {.type = WIRE_EVENT};
	struct wire_bytes *record = &message.event.record;
	size_t size;

	while (probe->stream.output.size < BATCH_BYTES) {
		if (!ring_next(&probe->kernel.ring, (const void **)&record->data, &size,
			       &message.event.offset))
			return false;
		record->size = (uint32_t)size;
		stream_send(&probe->stream, &message);
	}
	return true;
}

/* All of them, if there are more than the receiver knows: which of them are new, it finds out.
 * What was lost may be told by a full pass. */
static void losses_send(struct probe *probe)
{
	bool more = false;

	for (int i = 0; i < LOSS_SLOTS; i++) {
		const struct loss_slot *slot = &probe->kernel.losses[i];
		uint64_t count = __atomic_load_n(&slot->count, __ATOMIC_ACQUIRE);

		if (count == probe->losses_sent[i].count)
			continue;
		probe->losses_sent[i] = *slot;
		probe->losses_sent[i].count = count; /* so much that the rest was there */
		more = true;
	}
	if (!more)
		return;
	stream_send(&probe->stream, &(struct wire_message){
		.type = WIRE_LOSSES,
		.losses.slots = {(char *)probe->losses_sent, sizeof(probe->losses_sent)},
	});
	probe->text_wanted = true;
}

static void pass_begin(struct probe *probe, uint64_t now_boot_ns)
{
	bool is_slow = probe->text_wanted || now_boot_ns >= probe->next_slow_boot_ns;

	probe->is_passing = true;
	probe->pass_iterator = 0;
	probe->pass_iterator_count = is_slow ? probe->kernel.iterator_count : 1;
	probe->pass = (struct wire_message){
		.type = WIRE_PASS,
		.pass = {
			.boot_ns = now_boot_ns,
			.unix_ns = clock_unix_ns(),
			.with_text = probe->text_wanted,
			.ring_offset = probe->kernel.ring.position,
			.backlog_bytes = ring_backlog_bytes(&probe->kernel.ring),
		},
	};
	probe->kernel.control->sample_text = probe->text_wanted;
	probe->text_wanted = false;
	probe->next_pass_boot_ns = now_boot_ns + probe->period_ns;
	probe->pass_begin_cpu_ns = clock_cpu_ns();
	if (is_slow)
		probe->next_slow_boot_ns = now_boot_ns + SLOW_PERIOD_NS;
}

static void pass_break_off(struct probe *probe)
{
	if (probe->pass_fd >= 0)
		close(probe->pass_fd);
	probe->pass_fd = -1;
	probe->is_passing = false;
}

/* Where a pass costs much, among very many processes, the next one is further away: looking
 * at the living never takes more than its share. */
static void pass_space_out(struct probe *probe)
{
	uint64_t cost_ns = clock_cpu_ns() - probe->pass_begin_cpu_ns;
	uint64_t next_boot_ns = probe->pass.pass.boot_ns + cost_ns * PASS_SHARE;

	if (!probe->pass.pass.with_text && next_boot_ns > probe->next_pass_boot_ns)
		probe->next_pass_boot_ns = next_boot_ns;
}

static void pass_end(struct probe *probe)
{
	probe->is_passing = false;
	pass_space_out(probe);
	losses_send(probe);
	stream_send(&probe->stream, &probe->pass);
	stream_flush(&probe->stream);
	ready_tell(&probe->ready_fd);
}

/* One piece of it. While a pass is under way no event is sent, so that every event after
 * it is beyond its ring_offset. */
static void pass_continue(struct probe *probe)
{
	static char piece[PIECE_BYTES];
	ssize_t size;

	if (probe->pass_fd < 0 && probe->pass_iterator == probe->pass_iterator_count) {
		pass_end(probe);
		return;
	}
	if (probe->pass_fd < 0)
		probe->pass_fd = bpf_iter_create(probe->kernel.iterator[probe->pass_iterator++]);
	size = probe->pass_fd < 0 ? -1 : read(probe->pass_fd, piece, sizeof(piece));
	if (size > 0) {
		stream_send(&probe->stream, &(struct wire_message){
			.type = WIRE_SAMPLE, .sample.records = {piece, (uint32_t)size}});
	} else if (size == 0) {
		close(probe->pass_fd);
		probe->pass_fd = -1;
	} else if (errno != EAGAIN && errno != EINTR) {
		/* Perhaps within a record: only a new connection mends that. */
		log_error("cannot look at living processes: %s", strerror(errno));
		pass_break_off(probe);
		stream_fail(&probe->stream, "a pass over living processes broke off");
	}
}

/* A receiver begins: from what it has, with everything that it cannot know. */
static void connection_begin(struct probe *probe, uint64_t ring_epoch, uint64_t offset)
{
	struct kernel *kernel = &probe->kernel;

	pass_break_off(probe);
	ring_seek(&kernel->ring, ring_epoch == kernel->control->ring_epoch ? offset : 0);
	kernel->control->connection++;
	probe->text_wanted = true;
	probe->next_pass_boot_ns = 0;
	memset(probe->losses_sent, 0, sizeof(probe->losses_sent));
}

static void answers_take(struct probe *probe)
{
	struct wire_message message;

	while (stream_receive(&probe->stream, &message)) {
		if (message.type == WIRE_WELCOME) {
			log_info("connected");
			connection_begin(probe, message.welcome.ring_epoch, message.welcome.offset);
			continue;
		}
		ring_free_before(&probe->kernel.ring, message.ack.offset);
	}
}

/* Nothing is added to what the receiver has not taken. True: there is more to do now. */
static bool probe_step(struct probe *probe, uint64_t now_boot_ns)
{
	struct stream *stream = &probe->stream;
	bool more = false;

	probe->kernel.control->lease_boot_ns = now_boot_ns + probe->lease_ns;
	if (stream->fd < 0) {
		hello_refresh(probe);
		stream_connect(stream, &probe->hello);
	}
	answers_take(probe);
	if (stream->is_ready && !stream_has_output(stream)) {
		if (!probe->is_passing && !probe->farewell_boot_ns &&
		    now_boot_ns >= probe->next_pass_boot_ns)
			pass_begin(probe, now_boot_ns);
		more = probe->is_passing || events_send(probe);
		if (probe->is_passing)
			pass_continue(probe);
	}
	stream_flush(stream);
	/* A recording has no one to acknowledge: what is written is done. */
	if (!stream->path && !stream_has_output(stream))
		ring_free_before(&probe->kernel.ring, UINT64_MAX);
	return more && stream->is_ready;
}

/* Sleep until the peer does something, a signal, or the next look at the ring. */
static void probe_wait(const struct probe *probe, bool more)
{
	const struct stream *stream = &probe->stream;
	bool blocked = stream_has_output(stream);
	struct pollfd peer = {.fd = stream->path ? stream->fd : -1, .events = POLLIN};
	struct timespec timeout = {0, more && !blocked ? 0 : READ_PERIOD_NS};
	sigset_t none;

	if (blocked)
		peer.events |= POLLOUT;
	sigemptyset(&none);
	ppoll(&peer, 1, &timeout, &none);
}

static bool probe_is_done(struct probe *probe, uint64_t now_boot_ns)
{
	const struct ring *ring = &probe->kernel.ring;

	if (!stopping && (!probe->until_boot_ns || now_boot_ns < probe->until_boot_ns))
		return false;
	if (!probe->farewell_boot_ns) {
		probe->farewell_boot_ns = now_boot_ns + FAREWELL_NS;
		probe->farewell_position = ring->position + ring_backlog_bytes(ring);
	}
	return !probe->stream.is_ready || now_boot_ns >= probe->farewell_boot_ns ||
	       (*ring->consumer >= probe->farewell_position && !probe->is_passing);
}

int probe_run(struct probe *probe)
{
	struct sigaction action = {.sa_handler = on_signal};
	uint64_t now_boot_ns = clock_boot_ns();

	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	int iterator = bpf_iter_create(probe->kernel.iterator[0]);
	if (iterator < 0) {
		log_error("cannot make an iterator without privileges: %s; Linux 5.19 or newer is "
			  "needed", strerror(errno));
		return -ENOTSUP;
	}
	close(iterator);
	probe->pass_fd = -1;
	if (!probe->stream.path)
		connection_begin(probe, 0, 0);
	for (; !probe_is_done(probe, now_boot_ns); now_boot_ns = clock_boot_ns()) {
		bool more = probe_step(probe, now_boot_ns);

		if (!probe->stream.path && probe->stream.fd < 0)
			return -EIO;
		probe_wait(probe, more);
	}
	if (*probe->kernel.ring.consumer < probe->farewell_position)
		log_info("%llu bytes in the ring are not acknowledged", (unsigned long long)
			 (probe->farewell_position - *probe->kernel.ring.consumer));
	return 0;
}
