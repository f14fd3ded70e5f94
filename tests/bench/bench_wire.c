/* Events a second through the wire format on one core: encoded into a frame (the probe's
 * part), decoded from frame and record (the correlator's).
 *
 *   bench_wire [MILLISECONDS]   per figure, 300 by default
 *
 * The events resemble those of an exec storm: 5 arguments, all counters set.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/record_encode.h"

#define BATCH 1000

static const struct image_key bench_image = {
	.pid = 123456,
	.exec_id = 7,
	.start_boot_ns = 86400123456789,
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static struct wire_bytes text(const char *string)
{
	return (struct wire_bytes){.data = string, .size = (uint32_t)strlen(string)};
}

static void fill_counters(struct counters *counters)
{
	uint64_t value = 1;

	counters->valid = (1ULL << COUNTER_COUNT) - 1;
#define X(name, source) \
	counters->name = value; \
	value *= 3;
	RECORD_COUNTERS(X)
#undef X
}

static void fill_fork(struct event *event)
{
	event->type = EVENT_FORK;
	event->fork = (struct event_fork){
		.boot_ns = 86400123456789,
		.image = bench_image,
		.parent = bench_image,
		.cgroup_id = 12345,
		.pgid = 4243,
		.uid = 1000,
	};
}

static void fill_exit(struct event *event)
{
	event->type = EVENT_EXIT;
	event->exit = (struct event_exit){.boot_ns = 86400123456789, .image = bench_image};
	fill_counters(&event->exit.counters);
}

static void fill_exec(struct event *event)
{
	static const char *const argv[] = {
		"samtools", "sort", "-@", "4", "results/sample_A/aligned.bam",
	};
	struct event_exec *exec = &event->exec;

	event->type = EVENT_EXEC;
	memset(exec, 0, sizeof(*exec));
	exec->boot_ns = 86400123456789;
	exec->image = exec->parent = bench_image;
	exec->cgroup_id = 12345;
	exec->pid_namespace = 4026531836;
	exec->mount_namespace = 4026531840;
	exec->uid = exec->gid = 1000;
	exec->pgid = 4242;
	fill_counters(&exec->counters);
	exec->comm = text("samtools");
	exec->filename = text("/usr/bin/samtools");
	exec->cwd = text("/home/someone/projects/pipeline");
	for (size_t i = 0; i < sizeof(argv) / sizeof(argv[0]); i++)
		exec->argv.item[exec->argv.count++] = text(argv[i]);
}

static double measure_encode(const struct wire_message *message, struct wire_output *output, uint64_t duration_ns)
{
	uint64_t begin_ns = now_ns(), elapsed_ns, count = 0;

	do {
		output->size = 0;
		for (int i = 0; i < BATCH; i++) {
			if (wire_encode(output, message))
				abort();
		}
		count += BATCH;
		elapsed_ns = now_ns() - begin_ns;
	} while (elapsed_ns < duration_ns);
	return (double)count * 1e9 / (double)elapsed_ns;
}

/* Consecutive frames, as received from a socket, split and decoded. */
static double measure_decode(const struct wire_output *frames, struct event *event, uint64_t duration_ns)
{
	struct wire_message message;
	uint64_t begin_ns = now_ns(), elapsed_ns, count = 0;
	const char *data, *reason;
	size_t size;

	do {
		struct wire_input input = {.data = frames->data, .size = frames->size};

		while (wire_input_next(&input, &data, &size) == 1) {
			if (wire_decode(data, size, &message, &reason) ||
			    event_decode(message.event.record.data, message.event.record.size, event))
				abort();
			count++;
		}
		elapsed_ns = now_ns() - begin_ns;
	} while (elapsed_ns < duration_ns);
	return (double)count * 1e9 / (double)elapsed_ns;
}

int main(int argc, char **argv)
{
	static void (*const fill[])(struct event *) = {fill_fork, fill_exec, fill_exit};
	static struct event event;
	static _Alignas(8) char record[EVENT_RECORD_MAX];
	struct wire_message message = {.type = WIRE_EVENT, .event.offset = 1ULL << 33};
	struct wire_output output = {0};
	uint64_t duration_ns = (argc > 1 ? strtoull(argv[1], NULL, 10) : 300) * 1000000;

	printf("%-8s %6s %14s %14s\n", "event", "bytes", "encoded/s", "decoded/s");
	for (size_t i = 0; i < sizeof(fill) / sizeof(fill[0]); i++) {
		fill[i](&event);
		message.event.record =
			(struct wire_bytes){.data = record, .size = (uint32_t)record_encode(&event, record)};
		double encoded = measure_encode(&message, &output, duration_ns);
		double decoded_rate = measure_decode(&output, &event, duration_ns);

		printf("%-8s %6zu %14.0f %14.0f\n", event_type_name(event.type), output.size / BATCH, encoded,
		       decoded_rate);
	}
	wire_output_deinit(&output);
	return 0;
}
