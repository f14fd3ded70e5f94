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

#include "common/log.h"
#include "probe/clock.h"

/* The ring wakes nobody: it is looked at this often. At 16 MiB it holds over 20,000
 * processes, many times what a host starts in that time. */
#define READ_PERIOD_NS 100000000ULL
#define FAREWELL_NS 2000000000ULL

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

/* A recording has no one to acknowledge: what is written is done. */
static void probe_flush(struct probe *probe)
{
	stream_flush(&probe->stream);
	if (!probe->stream.path && !stream_has_output(&probe->stream))
		ring_free_before(&probe->kernel.ring, UINT64_MAX);
}

static void probe_read_ring(struct probe *probe)
{
	const void *record;
	uint64_t offset;
	size_t size;

	probe->ring_waits = false;
	while (!stream_is_full(&probe->stream)) {
		if (!ring_next(&probe->kernel.ring, &record, &size, &offset))
			return;
		stream_send(&probe->stream, &(struct wire_message){
			.type = WIRE_EVENT,
			.event = {.offset = offset, .record = {record, (uint32_t)size}},
		});
	}
	probe->ring_waits = true;
}

/* Losses are kept in the kernel's map until an acknowledgement beyond the place where
 * they were sent; a connection that breaks before sends them again. */
static void probe_send_losses(struct probe *probe)
{
	for (int i = 0; i < LOSS_SLOTS; i++) {
		const struct loss_slot *slot = &probe->kernel.losses[i];
		uint64_t count = __atomic_load_n(&slot->count, __ATOMIC_ACQUIRE);

		if (count <= probe->loss_sent_count[i])
			continue;
		struct wire_message message = {
			.type = WIRE_LOSS,
			.loss = {
				.type = slot->type,
				.cgroup_id = slot->cgroup_id,
				.count = count - probe->loss_sent_count[i],
				.first_boot_ns = slot->first_boot_ns,
				.last_boot_ns = slot->last_boot_ns,
			},
		};
		stream_send(&probe->stream, &message);
		probe->loss_sent_count[i] = count;
		probe->loss_position = probe->kernel.ring.position;
		probe->text_wanted = true;
	}
}

static void probe_losses_delivered(struct probe *probe)
{
	for (int i = 0; i < LOSS_SLOTS; i++)
		probe->kernel.losses[i].delivered_count = probe->loss_sent_count[i];
}

static void probe_begin_pass(struct probe *probe, uint64_t now_boot_ns)
{
	int result = sampler_begin(&probe->sampler, &probe->kernel, probe->text_wanted);

	probe->next_pass_boot_ns = now_boot_ns + probe->period_ns;
	if (result) {
		log_error("cannot look at living processes: %s", strerror(-result));
		return;
	}
	probe->text_wanted = false;
	probe->pass_position = probe->kernel.ring.position;
	probe->pass_backlog_bytes =
		__atomic_load_n(probe->kernel.ring.producer, __ATOMIC_ACQUIRE) - probe->pass_position;
}

static void probe_tell_ready(struct probe *probe)
{
	if (probe->ready_fd < 0)
		return;
	if (write(probe->ready_fd, "1", 1) < 0)
		log_warning("nobody listens on --ready-fd: %s", strerror(errno));
	close(probe->ready_fd);
	probe->ready_fd = -1;
}

static void probe_end_pass(struct probe *probe)
{
	const struct sampler *sampler = &probe->sampler;
	struct wire_message message = {
		.type = WIRE_PASS,
		.pass = {
			.boot_ns = sampler->boot_ns,
			.unix_ns = sampler->unix_ns,
			.with_text = sampler->with_text,
			.ring_offset = probe->pass_position,
			.backlog_bytes = probe->pass_backlog_bytes,
		},
	};

	probe_send_losses(probe);
	stream_send(&probe->stream, &message);
	sampler_end(&probe->sampler);
	probe_flush(probe);
	probe_tell_ready(probe);
}

/* As far as the stream takes it. While a pass is under way no event is sent, so that
 * every event after PASS is beyond its ring_offset. */
static void probe_continue_pass(struct probe *probe)
{
	struct wire_message message = {.type = WIRE_SAMPLE};

	while (!stream_is_full(&probe->stream)) {
		int result = sampler_next(&probe->sampler, &message.sample.records);

		if (result == 0) {
			probe_end_pass(probe);
			return;
		}
		if (result < 0) { /* perhaps within a record: only a new connection mends that */
			sampler_end(&probe->sampler);
			stream_fail(&probe->stream, "a pass over living processes broke off");
			return;
		}
		stream_send(&probe->stream, &message);
	}
}

/* A receiver begins: from what it has, with everything that it cannot know. */
static void probe_begin_connection(struct probe *probe, uint64_t ring_epoch, uint64_t offset)
{
	struct kernel *kernel = &probe->kernel;

	sampler_end(&probe->sampler);
	if (ring_epoch == kernel->control->ring_epoch)
		ring_seek(&kernel->ring, offset);
	else
		ring_rewind(&kernel->ring);
	kernel->control->connection++;
	probe->text_wanted = true;
	probe->next_pass_boot_ns = 0;
	for (int i = 0; i < LOSS_SLOTS; i++)
		probe->loss_sent_count[i] = kernel->losses[i].delivered_count;
}

static void probe_receive(struct probe *probe)
{
	struct wire_message answer, *message = &answer;

	while (stream_receive(&probe->stream, message)) {
		if (message->type == WIRE_WELCOME && message->welcome.version != WIRE_VERSION) {
			stream_fail(&probe->stream, "the correlator speaks another version of the "
				    "wire; install probe and correlator of one release");
		} else if (message->type == WIRE_WELCOME) {
			log_info("connected");
			probe_begin_connection(probe, message->welcome.ring_epoch,
					       message->welcome.offset);
		} else {
			ring_free_before(&probe->kernel.ring, message->ack.offset);
			if (message->ack.offset > probe->loss_position)
				probe_losses_delivered(probe);
		}
	}
}

/* What there is to do now. */
static void probe_step(struct probe *probe, bool with_passes)
{
	uint64_t now = clock_boot_ns();

	probe->kernel.control->lease_boot_ns = now + probe->lease_ns;
	if (probe->stream.state == STREAM_CLOSED) {
		hello_refresh(probe);
		stream_connect(&probe->stream, &probe->hello);
	}
	probe_receive(probe);
	if (probe->stream.state == STREAM_READY) {
		if (probe->sampler.fd < 0 && with_passes && now >= probe->next_pass_boot_ns)
			probe_begin_pass(probe, now);
		if (probe->sampler.fd >= 0)
			probe_continue_pass(probe);
		if (probe->sampler.fd < 0 &&
		    (probe->ring_waits || now >= probe->next_read_boot_ns)) {
			probe_read_ring(probe);
			probe->next_read_boot_ns = now + READ_PERIOD_NS;
		}
	}
	probe_flush(probe);
}

/* Sleep until the peer does something, a signal, or the next look at the ring. */
static void probe_wait(struct probe *probe)
{
	const struct stream *stream = &probe->stream;
	struct pollfd peer = {.fd = stream->path ? stream->fd : -1, .events = POLLIN};
	uint64_t now = clock_boot_ns(), wait_ns = READ_PERIOD_NS;
	bool ready = stream->state == STREAM_READY, passing = probe->sampler.fd >= 0;
	sigset_t none;

	if (stream_has_output(stream))
		peer.events |= POLLOUT; /* nothing can go on before */
	else if (ready && (passing || probe->ring_waits || probe->next_read_boot_ns <= now))
		wait_ns = 0;
	else if (ready && probe->next_read_boot_ns - now < wait_ns)
		wait_ns = probe->next_read_boot_ns - now;
	sigemptyset(&none);
	ppoll(&peer, 1, &(struct timespec){0, (long)wait_ns}, &none);
}

static bool probe_is_delivered(const struct probe *probe, uint64_t end)
{
	return *probe->kernel.ring.consumer >= end;
}

/* Deliver what the ring holds now. */
static void probe_finish(struct probe *probe)
{
	uint64_t end = __atomic_load_n(probe->kernel.ring.producer, __ATOMIC_ACQUIRE);
	uint64_t deadline = clock_boot_ns() + FAREWELL_NS;

	stopping = 0; /* a second signal ends the wait */
	probe->next_read_boot_ns = 0;
	while (!stopping && clock_boot_ns() < deadline &&
	       (!probe_is_delivered(probe, end) || probe->sampler.fd >= 0 ||
		stream_has_output(&probe->stream))) {
		probe_step(probe, false);
		if (probe->stream.state != STREAM_READY)
			break;
		probe_wait(probe);
	}
	if (!probe_is_delivered(probe, end))
		log_info("%llu bytes in the ring are not acknowledged",
			 (unsigned long long)(end - *probe->kernel.ring.consumer));
}

int probe_run(struct probe *probe)
{
	struct sigaction action = {.sa_handler = on_signal};

	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	probe->sampler.fd = -1;
	if (!probe->stream.path)
		probe_begin_connection(probe, 0, 0);
	while (!stopping && (!probe->until_boot_ns || clock_boot_ns() < probe->until_boot_ns)) {
		probe_step(probe, true);
		if (!probe->stream.path && probe->stream.state == STREAM_CLOSED)
			return -EIO;
		probe_wait(probe);
	}
	probe_finish(probe);
	return 0;
}
