/* The correlator's memory for sleeping processes that its first process scan finds: how much each takes.
 *
 *   found [SHAPE...]
 *
 * For each shape, two processes take a scan of 10,000 and of 50,000 into a model with a store of its own, and then more
 * scans that find the same. Prints the difference of their resident memory, then and at most, for each process.
 */
#include <err.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/log.h"
#include "correlator/apply/apply.h"
#include "correlator/model/model.h"
#include "correlator/store/writer.h"
#include "tests/suite.h"

#define MS UINT64_C(1000000)
#define COUNT_LEAST 10000
#define COUNT_MOST 50000
#define SCANS 3               /* those found by the first are placed in the second */
#define SHELL_PROCESSES 10000 /* of each shell */
#define FIRST_USER 1000
#define FIRST_SHELL 10
#define FIRST_SLEEPER 100

/* What sleeps. */
static const struct shape {
	const char *name, *means, *parent, *command;
	bool is_numbered; /* each has arguments of its own */
	bool is_orphan, is_fork;
} shapes[] = {
	{"helpers", "sleep, started by shells", "/bin/bash run.sh", "/usr/bin/sleep", .is_numbered = true},
	{"tasks", "programs, started by shells: each a task", "/bin/bash run.sh",
	 "/usr/bin/python3 /opt/service/worker.py --number", .is_numbered = true},
	{"same", "the same, all with the same arguments", "/bin/bash run.sh",
	 "/usr/bin/python3 /opt/service/worker.py --number 7"},
	{"forks", "forked workers of programs: each a task", "/usr/bin/python3 pool.py", "/usr/bin/python3 pool.py",
	 .is_fork = true},
	{"runs", "programs without a parent: each a run", "/bin/bash run.sh",
	 "/usr/bin/python3 /opt/service/worker.py --number", .is_numbered = true, .is_orphan = true},
};

struct memory {
	long now_kib, most_kib;
};

static struct model *model;
static struct record record;
static uint64_t now_boot_ns;
static char directory[128];

static struct wire_bytes bytes(const char *text)
{
	return (struct wire_bytes){.data = text, .size = (uint32_t)strlen(text)};
}

static void apply(void)
{
	if (apply_record(model, &record) < 0)
		errx(1, "a record is not taken");
}

static void hello(void)
{
	struct wire_message message = {.type = WIRE_HELLO};

	message.hello = (struct wire_hello){.version = WIRE_VERSION,
					    .ring_epoch = 1,
					    .boot_ns = now_boot_ns,
					    .unix_ns = now_boot_ns,
					    .cpu_count = 2,
					    .boot_id = bytes("boot"),
					    .host_id = bytes("0123"),
					    .hostname = bytes("host"),
					    .kernel = bytes("6.1"),
					    .machine = bytes("x86_64"),
					    .probe_version = bytes("1")};
	if (apply_message(model, &message) < 0)
		errx(1, "the hello is not taken");
}

static void scan_ends(void)
{
	struct wire_message message = {.type = WIRE_SCAN};

	message.scan = (struct wire_scan){.boot_ns = now_boot_ns, .unix_ns = now_boot_ns};
	if (apply_message(model, &message) < 0)
		errx(1, "the end of a scan is not taken");
}

static struct image_key key(uint32_t pid, uint32_t exec_id)
{
	return (struct image_key){.pid = pid, .exec_id = exec_id, .start_boot_ns = pid * MS / 100};
}

/* What a process has done that started and went to sleep. */
static struct counters counters_of_sleeper(void)
{
	return (struct counters){
		.valid = (UINT64_C(1) << COUNTER_COUNT) - 1,
		.cpu_ns = MS,
		.user_ns = MS,
		.minor_faults = 120,
		.voluntary_switches = 1,
		.rchar_bytes = 3000,
		.syscr_count = 3,
		.peak_rss_bytes = 2 << 20,
		.maxrss_bytes = 2 << 20,
		.rss_anon_bytes = 100 << 10,
		.rss_file_bytes = 1 << 20,
		.thread_count = 1,
	};
}

static void see(uint32_t pid, uint32_t parent, uint32_t exec_id, uint32_t user_id, const char *command)
{
	static char copy[256];

	snprintf(copy, sizeof(copy), "%s", command);
	memset(&record, 0, offsetof(struct record, argv));
	record.argv.count = 0;
	record.header =
		(struct record_header){.type = RECORD_SAMPLE, .boot_ns = now_boot_ns, .image = key(pid, exec_id)};
	record.exec.context = (struct record_context){
		.parent = parent ? key(parent, 1) : (struct image_key){0},
		.cgroup_id = 100,
		.uid = user_id,
		.pgid = parent,
	};
	record.exec.counters = counters_of_sleeper();
	record.cwd = bytes("/home/somebody/work/2026-03-05");
	record.comm = bytes("comm");
	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
		record.argv.item[record.argv.count++] = bytes(word);
	record.path = record.argv.item[0];
	apply();
}

static void scan(const struct shape *shape, unsigned count)
{
	char command[128];

	see(1, 0, 1, 0, "/usr/lib/systemd/systemd");
	see(2, 1, 1, 0, "/usr/sbin/sshd -D");
	for (unsigned number = 0; number < count; number++) {
		uint32_t shell = number / SHELL_PROCESSES;

		if (number % SHELL_PROCESSES == 0)
			see(FIRST_SHELL + shell, 2, 1, FIRST_USER + shell, shape->parent);
		snprintf(command, sizeof(command), shape->is_numbered ? "%s %u" : "%s", shape->command, number);
		see(FIRST_SLEEPER + number, shape->is_orphan ? 1 : FIRST_SHELL + shell, shape->is_fork ? 1 : 2,
		    FIRST_USER + shell, command);
	}
	scan_ends();
}

static struct memory memory_of_this(void)
{
	struct memory memory = {0};
	FILE *status = fopen("/proc/self/status", "re");
	char line[256];

	while (status && fgets(line, sizeof(line), status)) {
		sscanf(line, "VmHWM: %ld", &memory.most_kib);
		sscanf(line, "VmRSS: %ld", &memory.now_kib);
	}
	if (status)
		fclose(status);
	return memory;
}

static struct memory take(const struct rules *rules, const struct shape *shape, unsigned count)
{
	const struct model_options options = {.rules = rules, .arguments = REDACT_SECRETS, .keep_states = true};
	struct store_stream stream = {0};
	struct store_error error;
	struct store *store;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s-%u.db", directory, shape->name, count);
	if (store_open_writer(path, &store, &error) < 0 || apply_begin(&options, store, &model) < 0)
		errx(1, "%s", path);
	now_boot_ns = 100000 * MS;
	hello();
	for (unsigned number = 0; number < SCANS; number++) {
		scan(shape, count);
		if (apply_commit(model, &stream) < 0)
			errx(1, "the commit failed");
		now_boot_ns += 10000 * MS;
	}
	return memory_of_this();
}

/* In a process of its own. */
static struct memory measure(const struct rules *rules, const struct shape *shape, unsigned count)
{
	struct memory memory;
	int pipes[2], status;
	pid_t child;

	if (pipe(pipes) < 0 || (child = fork()) < 0)
		err(1, "fork");
	if (child == 0) {
		memory = take(rules, shape, count);
		_exit(write(pipes[1], &memory, sizeof(memory)) != sizeof(memory));
	}
	if (waitpid(child, &status, 0) < 0 || status || read(pipes[0], &memory, sizeof(memory)) != sizeof(memory))
		errx(1, "%s: failed", shape->name);
	close(pipes[0]);
	close(pipes[1]);
	return memory;
}

static bool is_chosen(const struct shape *shape, char **names)
{
	bool chosen = !*names;

	for (; *names; names++)
		chosen = chosen || strcmp(*names, shape->name) == 0;
	return chosen;
}

static void compare(const struct rules *rules, const struct shape *shape)
{
	struct memory least = measure(rules, shape, COUNT_LEAST), most = measure(rules, shape, COUNT_MOST);
	const int more = COUNT_MOST - COUNT_LEAST;

	printf("%-8s %5ld bytes each, %5ld at most: %s\n", shape->name, 1024 * (most.now_kib - least.now_kib) / more,
	       1024 * (most.most_kib - least.most_kib) / more, shape->means);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct tree_error error;
	struct rules *rules;

	(void)argc;
	log_init("found", LOG_LEVEL_ERROR);
	if (rules_load(NULL, &rules, &error) < 0)
		errx(1, "no rules");
	suite_directory(directory, sizeof(directory));
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
		if (is_chosen(&shapes[i], argv + 1))
			compare(rules, &shapes[i]);
	suite_directory_remove(directory);
	rules_free(rules);
	return 0;
}
