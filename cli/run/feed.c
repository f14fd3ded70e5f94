/* See feed.h. */
#include "cli/run/feed.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/sysinfo.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli/process/program.h"
#include "common/clock.h"

#define OUTPUT_MAX (8 << 20) /* above it, sending waits for the correlator */
#define SEND_TIMEOUT_MS 10000
#define SAMPLES_MAX (WIRE_FRAME_MAX - 64) /* with the message around them */

static void fail(struct feed *feed)
{
	close(feed->fd);
	feed->fd = -1;
}

static void put(struct feed *feed, const struct wire_message *message)
{
	if (feed->fd >= 0 && wire_encode(&feed->output, message) < 0)
		fail(feed);
}

static struct wire_bytes bytes_of(const char *text)
{
	return (struct wire_bytes){text, (uint32_t)strlen(text)};
}

static void greet(struct feed *feed)
{
	char boot_id[256], host_id[256];
	struct utsname names = {0};
	struct sysinfo info = {0};
	uint64_t epoch = 0;

	uname(&names);
	sysinfo(&info);
	if (getrandom(&epoch, sizeof(epoch), GRND_NONBLOCK) != sizeof(epoch) || epoch == 0)
		epoch = clock_boot_ns();
	put(feed, &(struct wire_message){
			  .type = WIRE_HELLO,
			  .hello = {
				  .version = WIRE_VERSION,
				  .record_version = RECORD_VERSION,
				  .ring_epoch = epoch,
				  .boot_ns = clock_boot_ns(),
				  .unix_ns = clock_unix_ns(),
				  .cpu_count = (uint64_t)get_nprocs(),
				  .memory_bytes = (uint64_t)info.totalram * info.mem_unit,
				  .boot_id = bytes_of(program_read_line("/proc/sys/kernel/random/boot_id", boot_id)),
				  .host_id = bytes_of(program_read_line("/etc/machine-id", host_id)),
				  .hostname = bytes_of(names.nodename),
				  .kernel = bytes_of(names.release),
				  .machine = bytes_of(names.machine),
				  .probe_version = bytes_of(TRACER_VERSION),
			  }});
}

static void send_output(struct feed *feed, bool waits)
{
	while (feed->fd >= 0 && feed->sent < feed->output.size) {
		ssize_t count = send(feed->fd, feed->output.data + feed->sent, feed->output.size - feed->sent,
				     MSG_NOSIGNAL | MSG_DONTWAIT);

		if (count > 0) {
			feed->sent += (size_t)count;
		} else if (count < 0 && errno == EAGAIN) {
			if (!waits)
				return;
			if (poll(&(struct pollfd){.fd = feed->fd, .events = POLLOUT}, 1, SEND_TIMEOUT_MS) == 0)
				fail(feed);
		} else if (errno != EINTR) {
			fail(feed);
		}
	}
	feed->output.size = feed->sent = 0;
}

/* The answers say what is stored; nothing depends on that here. */
static void discard_answers(const struct feed *feed)
{
	char answers[4096];

	while (feed->fd >= 0 && recv(feed->fd, answers, sizeof(answers), MSG_DONTWAIT) > 0)
		;
}

int feed_open(struct feed *feed, const char *socket_path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	*feed = (struct feed){.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), .samples = malloc(SAMPLES_MAX)};
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", socket_path);
	if (feed->fd < 0 || !feed->samples || connect(feed->fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return errno ? -errno : -ENOMEM;
	greet(feed);
	send_output(feed, true);
	return feed->fd < 0 ? -EPIPE : 0;
}

static uint32_t record_size(const void *record)
{
	struct record_header header;

	memcpy(&header, record, sizeof(header));
	return header.size;
}

void feed_event(struct feed *feed, const void *record)
{
	put(feed, &(struct wire_message){.type = WIRE_EVENT,
					 .event = {.offset = feed->offset++, .record = {record, record_size(record)}}});
}

static void put_samples(struct feed *feed)
{
	if (feed->sample_size > 0)
		put(feed, &(struct wire_message){.type = WIRE_SAMPLE,
						 .sample.records = {feed->samples, (uint32_t)feed->sample_size}});
	feed->sample_size = 0;
}

void feed_sample(struct feed *feed, const void *record)
{
	size_t size = record_size(record), padded_size = (size + 7) & ~(size_t)7;

	if (feed->sample_size + padded_size > SAMPLES_MAX)
		put_samples(feed);
	memcpy(feed->samples + feed->sample_size, record, size);
	memset(feed->samples + feed->sample_size + size, 0, padded_size - size);
	feed->sample_size += padded_size;
}

void feed_scan(struct feed *feed, uint64_t boot_ns)
{
	put_samples(feed);
	put(feed, &(struct wire_message){.type = WIRE_SCAN,
					 .scan = {
						 .boot_ns = boot_ns,
						 .unix_ns = clock_unix_ns() - (clock_boot_ns() - boot_ns),
						 .ring_offset = feed->offset,
					 }});
}

void feed_flush(struct feed *feed)
{
	discard_answers(feed);
	send_output(feed, feed->output.size > OUTPUT_MAX);
}

void feed_close(struct feed *feed)
{
	if (feed->fd >= 0) {
		send_output(feed, true);
		shutdown(feed->fd, SHUT_WR);
	}
	wire_output_deinit(&feed->output);
	free(feed->samples);
	feed->samples = NULL;
}
