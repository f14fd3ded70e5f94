/* Writes records into a ring of its own memory as fast as a large host would, and forwards them as the probe does:
 * what a correlator stores of them, without the processors that it takes to execute so much.
 *
 *   ring SOCKET RING_BYTES RATE SECONDS ARGUMENT_BYTES
 *
 * Each process has a fork, an exec, an exit and a final record; its command line is one of a compiler, with the number
 * of the process in it. Above RECORD_ARGV_MAX bytes it is cut there. Prints the number of processes, how many of them
 * found no room, the largest number of bytes that waited, and the seconds that the forwarding took of a processor.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "probe/forward/forward.h"

#define TICK_NS 1000000ULL /* records are written a thousand times a second */
#define SETTLE_NS 1500000000ULL
#define PIDS 32768
#define TASKS 64

static struct control control = {.record_version = RECORD_VERSION, .build = 1};
static struct loss_slot losses[LOSS_SLOTS];
static uint32_t majors[DEVICE_MAJORS_MAX];
static uint64_t consumer, producer;
static char *data;
static struct forward_source source = {
	.control = &control,
	.losses = losses,
	.iterators_are_files = true,
	.device_majors = majors,
	.devices_fd = -1,
	.arguments_fd = -1,
};
static struct forward forward = {.source = &source, .period_ns = 1000000000, .lease_ns = 3600000000000, .ready_fd = -1};

static double seconds;
static unsigned long rate, argument_bytes, written, refused, waited_most;

/* As the kernel lays it out: the data twice in a row, so that no record wraps. */
static void ring_make(size_t bytes)
{
	int fd = memfd_create("ring", MFD_CLOEXEC);

	data = mmap(NULL, 2 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (fd < 0 || ftruncate(fd, (off_t)bytes) < 0 || data == MAP_FAILED)
		err(1, "ring");
	for (int i = 0; i < 2; i++)
		if (mmap(data + (size_t)i * bytes, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) ==
		    MAP_FAILED)
			err(1, "ring");
	source.ring = (struct ring){.consumer = &consumer, .producer = &producer, .data = data, .mask = bytes - 1};
}

static size_t room(void)
{
	size_t waiting = producer - __atomic_load_n(&consumer, __ATOMIC_ACQUIRE);

	if (waiting > waited_most)
		waited_most = waiting;
	return source.ring.mask + 1 - waiting;
}

static void put(const void *record, size_t size)
{
	uint32_t *header = (uint32_t *)(data + (producer & source.ring.mask));

	memcpy(header + 2, record, size);
	*header = (uint32_t)size;
	__atomic_store_n(&producer, producer + ((size + 15) & ~7UL), __ATOMIC_RELEASE);
}

static char exec_record[sizeof(struct record_exec) + 64 + RECORD_ARGV_MAX];
static size_t number_at; /* of the digits in it */

static void exec_make(void)
{
	static const char program[] = "/usr/bin/compiler", directory[] = "src\0\0home\0";
	struct record_exec *exec = (void *)exec_record;
	char *text = (char *)(exec + 1), *argv;
	int word = 0;

	exec->context.flags = argument_bytes > RECORD_ARGV_MAX ? RECORD_ARGV_TRUNCATED : 0;
	if (argument_bytes > RECORD_ARGV_MAX)
		argument_bytes = RECORD_ARGV_MAX;
	memcpy(exec->comm, "compiler", 9);
	exec->filename_size = sizeof(program);
	exec->cwd_size = sizeof(directory) - 1;
	exec->argv_size = (uint32_t)argument_bytes;
	text = mempcpy(text, program, sizeof(program));
	argv = text = mempcpy(text, directory, sizeof(directory) - 1);
	text = mempcpy(text, "compiler", 9);
	number_at = (size_t)(text - exec_record) + 6;
	text = mempcpy(text, "src/f_0000000.c", 16);
	while (text < argv + argument_bytes) {
		char part[64];
		int size = snprintf(part, sizeof(part), "-I../include/part_%d/generated", word++) + 1;
		size_t left = (size_t)(argv + argument_bytes - text);

		text = mempcpy(text, part, (size_t)size < left ? (size_t)size : left);
	}
	if (!exec->context.flags)
		text[-1] = '\0';
	exec->header.type = RECORD_EXEC;
	exec->header.size = (uint32_t)(text - exec_record);
}

static void counters_set(struct counters *counters)
{
	counters->valid = COUNTER_VALID(cpu_ns) | COUNTER_VALID(minor_faults) | COUNTER_VALID(maxrss_bytes);
	counters->cpu_ns = 800000;
	counters->minor_faults = 100;
	counters->maxrss_bytes = 2 << 20;
}

/* The first one stays, and so do its children, which start all others: one run with as many tasks. */
static struct image_key parents[1 + TASKS];

static void process_put(unsigned long number)
{
	static struct record_fork fork_record = {.header = {.type = RECORD_FORK, .size = sizeof(fork_record)}};
	static struct record_exit exit_record = {.header = {.size = sizeof(exit_record)}};
	struct record_exec *exec = (void *)exec_record;
	uint64_t now_boot_ns = clock_boot_ns();
	struct image_key image = {.pid = (uint32_t)(100 + number % PIDS), .exec_id = 1, .start_boot_ns = now_boot_ns};

	if (room() < sizeof(fork_record) + exec->header.size + 2 * sizeof(exit_record) + 64) {
		refused++;
		return;
	}
	fork_record.header.boot_ns = exec->header.boot_ns = exit_record.header.boot_ns = now_boot_ns;
	fork_record.header.image = image;
	fork_record.parent = exec->context.parent = parents[number > TASKS ? 1 + number % TASKS : 0];
	put(&fork_record, sizeof(fork_record));
	image.exec_id = 2;
	exec->header.image = exit_record.header.image = image;
	if (number <= TASKS)
		parents[number] = image;
	for (unsigned long digit = 0, rest = number; digit < 7; digit++, rest /= 10)
		exec_record[number_at + 6 - digit] = (char)('0' + rest % 10);
	put(exec, exec->header.size);
	if (number <= TASKS)
		return;
	counters_set(&exit_record.counters);
	exit_record.header.type = RECORD_EXIT;
	put(&exit_record, sizeof(exit_record));
	exit_record.header.type = RECORD_FINAL;
	put(&exit_record, sizeof(exit_record));
}

static void *produce(void *context)
{
	uint64_t begin_ns = clock_boot_ns() + SETTLE_NS; /* the first scan */

	for (uint64_t tick = 0; tick < (uint64_t)(seconds * 1000); tick++) {
		uint64_t until_ns = begin_ns + tick * TICK_NS, now_ns = clock_boot_ns();
		const struct timespec rest = {
			.tv_sec = until_ns > now_ns ? (time_t)((until_ns - now_ns) / 1000000000) : 0,
			.tv_nsec = until_ns > now_ns ? (long)((until_ns - now_ns) % 1000000000) : 0};

		nanosleep(&rest, NULL);
		for (; written < (tick + 1) * rate / 1000; written++)
			process_put(written);
	}
	kill(getpid(), SIGTERM);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	sigset_t signals;

	if (argc < 6)
		errx(2, "usage: ring SOCKET RING_BYTES RATE SECONDS ARGUMENT_BYTES");
	rate = strtoul(argv[3], NULL, 10);
	seconds = strtod(argv[4], NULL);
	argument_bytes = strtoul(argv[5], NULL, 10);
	log_init("ring", LOG_LEVEL_WARNING);
	ring_make(strtoul(argv[2], NULL, 10));
	exec_make();
	if (getrandom(&control.ring_epoch, sizeof(control.ring_epoch), 0) < 0)
		err(1, "getrandom");
	source.iterator[0] = source.iterator[1] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	stream_init_socket(&forward.stream, argv[1], getuid());
	forward_fill_hello(&forward);
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	if (pthread_create(&thread, NULL, produce, NULL))
		errx(1, "no thread");
	int r = forward_run(&forward);

	pthread_join(thread, NULL);
	if (r < 0 || consumer < producer)
		errx(1, "%lu of %lu bytes were not acknowledged", (unsigned long)(producer - consumer),
		     (unsigned long)producer);
	printf("%lu %lu %lu %.2f\n", written, refused, waited_most, (double)clock_cpu_ns() / 1e9);
	return 0;
}
