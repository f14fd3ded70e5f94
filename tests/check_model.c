/* The execution model: streams made by hand, and the runs, tasks and tools that
 * must come out of them. */
#include <check.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "correlator/model.h"

#define MS UINT64_C(1000000)
#define CGROUP_BASE 100

static char directory[] = "/tmp/tracer-check-model-XXXXXX", path[64];
static struct rules *rules;
static struct store *store;
static struct model *model;
static struct store_stream stream;
static struct wire_message message;
static struct event event;
static bool is_event; /* what comes next is `event`, not `message` */
static enum redact_mode arguments;
static uint64_t now;
static uint32_t exec_ids[100];

static struct wire_bytes bytes(const char *text)
{
	return (struct wire_bytes){.data = text, .size = (uint32_t)strlen(text)};
}

static struct wire_message *begin(enum wire_type type)
{
	memset(&message, 0, sizeof(message));
	message.type = type;
	is_event = false;
	now += MS;
	return &message;
}

static struct event *begin_event(enum event_type type)
{
	memset(&event, 0, sizeof(event));
	event.type = type;
	is_event = true;
	now += MS;
	return &event;
}

static void apply(void)
{
	int r = is_event ? model_apply_event(model, &event) : model_apply(model, &message);

	ck_assert_int_eq(r, 0);
}

/* pid n always began at n ms: an identity that a reader can follow */
static struct image_key key(unsigned pid)
{
	return (struct image_key){.pid = pid, .exec_id = exec_ids[pid], .start_boot_ns = pid * MS};
}

static struct counters cpu(uint64_t ns)
{
	return (struct counters){
		.valid = COUNTER_VALID(cpu_ns) | COUNTER_VALID(user_ns) | COUNTER_VALID(system_ns) |
			 COUNTER_VALID(read_bytes),
		.cpu_ns = ns,
		.user_ns = 3,
		.system_ns = 1,
		.read_bytes = 4096,
	};
}

static void hello(const char *boot_id)
{
	struct wire_hello *h = &begin(WIRE_HELLO)->hello;

	h->version = WIRE_VERSION;
	h->ring_epoch = 7;
	h->boot_ns = now;
	h->unix_ns = now + 1000 * MS;
	h->cpu_count = 2;
	h->boot_id = bytes(boot_id);
	h->host_id = bytes("0123");
	h->hostname = bytes("host");
	h->kernel = bytes("6.1");
	h->machine = bytes("x86_64");
	h->probe_version = bytes("1");
	apply();
}

static void fork_process(unsigned parent, unsigned pid)
{
	struct event_fork *f = &begin_event(EVENT_FORK)->fork;

	exec_ids[pid] = exec_ids[parent];
	f->boot_ns = now;
	f->image = key(pid);
	f->parent = key(parent);
	f->cgroup_id = CGROUP_BASE;
	f->pgid = pid;
	apply();
}

static void cgroup(uint64_t id, const char *cgroup_path)
{
	struct event_cgroup *c = &begin_event(EVENT_CGROUP)->cgroup;

	c->boot_ns = now;
	c->cgroup_id = id;
	c->path = bytes(cgroup_path);
	apply();
}

struct where {
	uint32_t stdin_pipe, stdout_pipe, pgid, tty;
	uint64_t cgroup_id;
	const char *cwd;
};

static void exec_in(unsigned pid, struct where where, const char *command)
{
	static char copy[512];
	struct event_exec *e = &begin_event(EVENT_EXEC)->exec;

	exec_ids[pid]++;
	e->boot_ns = now;
	e->image = key(pid);
	e->cgroup_id = where.cgroup_id ? where.cgroup_id : CGROUP_BASE;
	e->pgid = where.pgid ? where.pgid : pid;
	e->tty = where.tty;
	e->stdin_pipe = where.stdin_pipe;
	e->stdout_pipe = where.stdout_pipe;
	e->counters = cpu(2 * MS);
	e->cwd = bytes(where.cwd ? where.cwd : "/work");
	e->comm = bytes("comm");
	snprintf(copy, sizeof(copy), "%s", command);
	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
		e->argv.item[e->argv.count++] = bytes(word);
	static char program[128];

	snprintf(program, sizeof(program), "/usr/bin/%.*s", (int)e->argv.item[0].size, e->argv.item[0].data);
	e->filename = bytes(e->argv.item[0].data[0] == '-' ? "/bin/bash" : program);
	apply();
}

static void exec_process(unsigned pid, const char *command)
{
	exec_in(pid, (struct where){0}, command);
}

static void spawn(unsigned parent, unsigned pid, const char *command)
{
	fork_process(parent, pid);
	exec_process(pid, command);
}

static void end_as(enum event_type type, unsigned pid, unsigned status, struct counters counters)
{
	struct event_exit *e = &begin_event(type)->exit;

	e->boot_ns = now;
	e->image = key(pid);
	e->counters = counters;
	e->wait_status = status;
	apply();
}

static void exit_process(unsigned pid, unsigned status)
{
	end_as(EVENT_EXIT, pid, status, cpu(5 * MS));
	end_as(EVENT_FINAL, pid, status, cpu(6 * MS));
}

static void run_process(unsigned parent, unsigned pid, const char *command)
{
	spawn(parent, pid, command);
	exit_process(pid, 0);
}

static void sample_as(unsigned pid, unsigned parent, const char *command, struct counters counters,
		      unsigned flags)
{
	struct event_sample *s = &begin_event(EVENT_SAMPLE)->sample;
	static char copy[256], program[128];

	s->boot_ns = now;
	s->image = key(pid);
	s->parent = parent ? key(parent) : (struct image_key){0};
	s->cgroup_id = CGROUP_BASE;
	s->flags = flags;
	s->counters = counters;
	s->cwd = bytes(command ? "/work" : "");
	s->comm = bytes(command ? "comm" : "");
	s->filename = bytes("");
	if (command) {
		snprintf(copy, sizeof(copy), "%s", command);
		for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
			s->argv.item[s->argv.count++] = bytes(word);
		snprintf(program, sizeof(program), "/usr/bin/%s", s->argv.item[0].data);
		s->filename = bytes(program);
	}
	apply();
}

static void sample(unsigned pid, unsigned parent, const char *command, struct counters counters)
{
	sample_as(pid, parent, command, counters, 0);
}

static void pass(uint64_t boot_ns)
{
	struct wire_pass *p = &begin(WIRE_PASS)->pass;

	p->boot_ns = boot_ns;
	p->unix_ns = boot_ns + 1000 * MS;
	apply();
}

/* Time passes, with nothing but init and the ssh daemon to be seen alive. */
static void wait_ms(uint64_t milliseconds)
{
	uint32_t saved[2] = {exec_ids[1], exec_ids[2]};

	now += milliseconds * MS;
	exec_ids[1] = exec_ids[2] = 0;
	sample(1, 0, NULL, cpu(0));
	sample(2, 1, NULL, cpu(0));
	pass(now);
	now += MS;
	memcpy(&exec_ids[1], saved, sizeof(saved));
}

static void commit(void)
{
	ck_assert_int_eq(model_commit(model, &stream), 0);
}

static void open_model(void)
{
	struct store_error error;
	const struct model_options options = {.rules = rules, .arguments = arguments, .checkpoints = true};

	ck_assert_int_eq(store_open_writer(path, &store, &error), 0);
	ck_assert_int_eq(model_new(&options, store, &model), 0);
}

static void close_model(void)
{
	model_free(model);
	store_close(store);
}

/* A site's rule: what is called "hidden" is not stored. */
static void write_rules(void)
{
	char file[64];

	snprintf(file, sizeof(file), "%s/site.yaml", directory);
	FILE *stream_out = fopen(file, "w");

	ck_assert_ptr_nonnull(stream_out);
	fputs("rules:\n  - rule: hide\n    match:\n      executable: hidden\n    role: ignore\n", stream_out);
	fclose(stream_out);
}

static void setup(void)
{
	const char *const site[] = {directory, NULL};
	struct rules_error error;
	char copy[] = "/tmp/tracer-check-model-XXXXXX";

	memcpy(directory, copy, sizeof(copy));
	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/store.db", directory);
	write_rules();
	ck_assert_int_eq(rules_load(site, &rules, &error), 0);
	memset(exec_ids, 0, sizeof(exec_ids));
	memset(&stream, 0, sizeof(stream));
	now = 1000 * MS; /* so that what a pass finds is not young */
	arguments = REDACT_SECRETS;
	open_model();
	/* Every test begins with init and an ssh daemon that a pass found. */
	hello("boot-1");
	sample(1, 0, "systemd", cpu(0));
	sample(2, 1, "sshd -D", cpu(0));
	pass(now + MS);
	now += 2 * MS;
}

static void teardown(void)
{
	char command[128];

	close_model();
	rules_free(rules);
	snprintf(command, sizeof(command), "rm -r %s", directory);
	ck_assert_int_eq(system(command), 0);
}

/* Rows of `sql` as lines, columns joined by a space. */
static char *rows(const char *sql)
{
	static char text[8192];
	sqlite3 *database;
	sqlite3_stmt *statement;
	size_t size = 0;

	commit();
	ck_assert_int_eq(sqlite3_open_v2(path, &database, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	ck_assert_msg(sqlite3_prepare_v2(database, sql, -1, &statement, NULL) == SQLITE_OK, "%s",
		      sqlite3_errmsg(database));
	text[0] = '\0';
	while (sqlite3_step(statement) == SQLITE_ROW) {
		for (int i = 0; i < sqlite3_column_count(statement); i++) {
			const char *value = (const char *)sqlite3_column_text(statement, i);

			size += (size_t)snprintf(text + size, sizeof(text) - size, "%s%s", i ? " " : "",
						 value ? value : "-");
		}
		size += (size_t)snprintf(text + size, sizeof(text) - size, "\n");
	}
	sqlite3_finalize(statement);
	sqlite3_close(database);
	return text;
}

static const char tasks_sql[] =
	"SELECT t.kind || ':', t.name, '[' || (SELECT group_concat(name, ', ') FROM (SELECT name FROM "
	"standing_tools WHERE task_id = t.id ORDER BY begin_boot_ns, name)) || ']', t.status "
	"FROM standing_tasks t JOIN runs r ON r.id = t.run_id WHERE r.kind <> 'system' "
	"ORDER BY r.begin_boot_ns, t.kind <> 'main', t.begin_boot_ns";

#define ck_assert_tasks(expected) ck_assert_str_eq(rows(tasks_sql), expected)

/* ---- runs */

START_TEST(a_command_beneath_an_origin_is_a_run)
{
	run_process(2, 10, "bwa mem ref reads");
	ck_assert_tasks("main: bwa mem [bwa mem] succeeded\n");
	ck_assert_str_eq(rows("SELECT kind, name, status, process_count, living_count, exit_code, cpu_ns "
			      "FROM runs WHERE kind <> 'system'"),
			 "command bwa mem succeeded 1 0 0 6000000\n");
}
END_TEST

START_TEST(tracer_run_marks_a_run_wherever_it_is)
{
	spawn(2, 10, "bash outer.sh");
	spawn(10, 11, "tracer run -- samtools sort x");
	spawn(11, 12, "samtools sort x");
	exit_process(12, 3 << 8);
	ck_assert_str_eq(rows("SELECT name, kind, status, exit_code FROM runs WHERE kind <> 'system' "
			      "ORDER BY begin_boot_ns"),
			 "outer.sh command running -\nsamtools sort command failed 3\n");
}
END_TEST

START_TEST(what_cron_starts_is_a_run_of_kind_cron)
{
	spawn(1, 10, "cron -f");
	run_process(10, 11, "backup.sh");
	ck_assert_str_eq(rows("SELECT kind, name, reason FROM runs WHERE kind <> 'system'"),
			 "cron backup.sh child of an origin\n");
}
END_TEST

START_TEST(jobs_of_an_interactive_shell_are_runs)
{
	fork_process(2, 10);
	exec_in(10, (struct where){.tty = 5}, "-bash");
	fork_process(10, 11);
	exec_in(11, (struct where){.tty = 5, .pgid = 11, .stdout_pipe = 77}, "gzip -dc a");
	fork_process(10, 12);
	exec_in(12, (struct where){.tty = 5, .pgid = 11, .stdin_pipe = 77}, "sort");
	fork_process(10, 13);
	exec_in(13, (struct where){.tty = 5, .pgid = 13}, "make all");
	ck_assert_str_eq(rows("SELECT kind, name, process_count FROM runs WHERE kind <> 'system' "
			      "ORDER BY begin_boot_ns"),
			 "job gzip 2\njob make work 1\n");
}
END_TEST

START_TEST(a_process_without_a_known_parent_has_a_run_of_its_own)
{
	fork_process(90, 10); /* 90 was never told of */
	exec_process(10, "stray");
	ck_assert_str_eq(rows("SELECT kind, name FROM runs WHERE kind <> 'system'"), "found stray\n");
}
END_TEST

START_TEST(a_slurm_job_is_a_run_and_its_steps_are_tasks)
{
	cgroup(500, "/slurm_host/uid_0/job_9/step_batch");
	cgroup(501, "/slurm_host/uid_0/job_9/step_0");
	spawn(1, 10, "slurmd");
	for (unsigned i = 0; i < 2; i++) {
		fork_process(10, 20 + i);
		exec_in(20 + i, (struct where){0}, "slurmstepd");
		fork_process(20 + i, 30 + i);
		exec_in(30 + i, (struct where){.cgroup_id = 500 + i}, i ? "samtools index x" : "bash job.sh");
	}
	fork_process(21, 32); /* srun -n 2 */
	exec_in(32, (struct where){.cgroup_id = 501}, "samtools index y");
	run_process(30, 40, "gzip x");
	run_process(30, 41, "bwa index x");
	ck_assert_str_eq(rows("SELECT kind, count(*) FROM runs WHERE kind <> 'system'"), "batch 1\n");
	ck_assert_str_eq(rows("SELECT t.kind, t.process_count FROM standing_tasks t JOIN runs r ON r.id = "
			      "t.run_id WHERE r.kind = 'batch' ORDER BY t.begin_boot_ns"),
			 "batch 3\nbatch 2\n");
}
END_TEST

#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

START_TEST(a_container_belongs_to_the_client_that_waits_for_it)
{
	cgroup(600, "/docker/" HEX64);
	spawn(1, 10, "containerd-shim-runc-v2");
	spawn(2, 20, "bash driver.sh");
	run_process(20, 21, "bwa index x");
	spawn(20, 22, "docker run image samtools sort x");
	fork_process(10, 30);
	exec_in(30, (struct where){.cgroup_id = 600, .cwd = "/"}, "samtools sort x");
	run_process(30, 31, "gzip x");
	ck_assert_str_eq(rows("SELECT t.name, count(*), count(p.container_id) FROM processes p JOIN "
			      "standing_tasks t ON t.id = p.task_id WHERE p.pid >= 20 GROUP BY t.id "
			      "ORDER BY t.begin_boot_ns"),
			 "driver.sh 1 0\nbwa index 1 0\nsamtools sort + gzip 3 1\n");
	ck_assert_str_eq(rows("SELECT c.runtime, t.name FROM containers c JOIN tasks t ON t.id = c.task_id"),
			 "docker samtools sort + gzip\n");
}
END_TEST

/* As Docker has it: the shim runs runc in no container of its own, and what runc leaves behind
 * in the container's cgroup becomes the container's program. */
START_TEST(the_runtime_that_makes_a_container_is_the_hosts)
{
	cgroup(600, "/docker/" HEX64);
	spawn(1, 10, "containerd-shim-runc-v2");
	fork_process(10, 30);
	exec_in(30, (struct where){.cgroup_id = 1}, "runc create");
	fork_process(30, 31);
	exec_in(31, (struct where){.cgroup_id = 600}, "nginx");
	exit_process(30, 0);
	fork_process(31, 32);
	exec_in(32, (struct where){.cgroup_id = 600}, "gzip x");
	ck_assert_str_eq(rows("SELECT kind, name, process_count FROM runs WHERE kind <> 'system'"),
			 "container nginx 2\n");
	ck_assert_str_eq(rows("SELECT r.kind FROM processes p JOIN runs r ON r.id = p.run_id "
			      "WHERE p.program = 'runc'"),
			 "system\n");
	ck_assert_str_eq(rows("SELECT r.name FROM containers c JOIN runs r ON r.id = c.run_id"),
			 "nginx\n");
}
END_TEST

START_TEST(a_container_that_nobody_waits_for_is_a_run)
{
	cgroup(600, "/docker/" HEX64);
	spawn(1, 10, "containerd-shim-runc-v2");
	fork_process(10, 30);
	exec_in(30, (struct where){.cgroup_id = 600}, "nginx");
	fork_process(10, 31); /* docker exec, its client on another host */
	exec_in(31, (struct where){.cgroup_id = 600}, "ps");
	ck_assert_str_eq(rows("SELECT kind, name, process_count FROM runs WHERE kind <> 'system'"),
			 "container nginx 2\n");
}
END_TEST

/* ---- tasks */

START_TEST(one_subtree_after_another_opens_no_task)
{
	spawn(2, 10, "bash driver.sh");
	spawn(10, 11, "time bash inner.sh");
	spawn(11, 12, "bwa mem x");
	ck_assert_tasks("main: bwa mem [driver.sh, time, bwa mem] running\n");
}
END_TEST

START_TEST(subtrees_of_the_outermost_orchestrator_are_tasks)
{
	spawn(2, 10, "bash driver.sh");
	run_process(10, 11, "mkdir out");
	run_process(10, 12, "bwa index x");
	run_process(10, 13, "samtools faidx x");
	exit_process(10, 0);
	ck_assert_tasks("main: driver.sh [driver.sh, mkdir] succeeded\n"
			"generic: bwa index [bwa index] succeeded\n"
			"generic: samtools faidx [samtools faidx] succeeded\n");
}
END_TEST

START_TEST(an_orchestrator_found_further_out_takes_over)
{
	spawn(2, 10, "bash outer.sh");
	spawn(10, 11, "bash inner.sh");
	run_process(11, 12, "mkdir out");
	run_process(11, 13, "bwa index x");
	run_process(11, 14, "samtools faidx x");
	ck_assert_tasks("main: outer.sh + inner.sh [outer.sh, inner.sh, mkdir] running\n"
			"generic: bwa index [bwa index] succeeded\n"
			"generic: samtools faidx [samtools faidx] succeeded\n");
	exit_process(11, 0);
	wait_ms(20000); /* long ended, yet still to be merged */
	commit();
	char rev[32];

	snprintf(rev, sizeof(rev), "%s", rows("SELECT rev FROM processes WHERE pid = 13"));
	run_process(10, 15, "multiqc .");
	/* What moved is sent again by whoever sends what is new. */
	ck_assert_str_ne(rows("SELECT rev FROM processes WHERE pid = 13"), rev);
	ck_assert_tasks("main: outer.sh [outer.sh] running\n"
			"generic: inner.sh [inner.sh, mkdir, bwa index, samtools faidx] succeeded\n"
			"generic: multiqc [multiqc] succeeded\n");
	ck_assert_str_eq(rows("SELECT count(*) FROM processes p LEFT JOIN standing_tasks t ON t.id = "
			      "p.task_id WHERE t.id IS NULL"),
			 "0\n");
	/* outer and inner (2 ms at exec; inner to its end), four tools to their ends */
	ck_assert_str_eq(rows("SELECT r.process_count, r.cpu_ns - sum(t.cpu_ns), sum(t.process_count) FROM "
			      "standing_tasks t JOIN runs r ON r.id = t.run_id WHERE r.kind = 'command'"),
			 "6 0 6\n");
}
END_TEST

START_TEST(direct_subtrees_of_an_engine_are_tasks)
{
	spawn(2, 10, "bash wrapper.sh");
	spawn(10, 11, "python3 /usr/bin/snakemake --cores 2");
	spawn(11, 12, "bash -c true;bwa");
	run_process(12, 13, "bwa mem x");
	run_process(12, 14, "samtools sort x");
	exit_process(12, 0);
	spawn(11, 15, "bash -c make");
	spawn(15, 16, "make -j2");
	run_process(16, 17, "gcc -c a.c");
	run_process(16, 18, "gcc -c b.c");
	ck_assert_str_eq(rows("SELECT t.kind, t.process_count, t.status FROM standing_tasks t JOIN runs r ON "
			      "r.id = t.run_id WHERE r.kind = 'command' ORDER BY t.begin_boot_ns"),
			 "main 2 running\nengine 3 succeeded\nengine 4 running\n");
	ck_assert_str_eq(rows("SELECT engine, task_count FROM runs WHERE kind = 'command'"), "snakemake 2\n");
}
END_TEST

START_TEST(a_worker_that_an_engine_forked_is_the_engine)
{
	spawn(2, 10, "python3 /usr/bin/snakemake -j2");
	fork_process(10, 11);
	run_process(11, 12, "bwa index x");
	run_process(11, 13, "samtools faidx x");
	exit_process(11, 0);
	ck_assert_tasks("main: snakemake [snakemake] running\n"
			"engine: bwa index [bwa index] succeeded\n"
			"engine: samtools faidx [samtools faidx] succeeded\n");
	ck_assert_str_eq(rows("SELECT process_count FROM tools WHERE name = 'snakemake'"), "2\n");
}
END_TEST

START_TEST(a_pipe_beneath_an_engine_is_one_task)
{
	spawn(2, 10, "python3 /usr/bin/snakemake -j2");
	fork_process(10, 11);
	fork_process(10, 12);
	exec_in(12, (struct where){.stdin_pipe = 71}, "samtools sort");
	exec_in(11, (struct where){.stdout_pipe = 71}, "bwa mem x");
	run_process(10, 13, "multiqc .");
	exit_process(11, 1 << 8);
	exit_process(12, 0);
	ck_assert_tasks("main: snakemake [snakemake] running\n"
			"engine: bwa mem + samtools sort [samtools sort, bwa mem] failed\n"
			"engine: multiqc [multiqc] succeeded\n");
}
END_TEST

START_TEST(a_workflow_engine_inside_make_outranks_it)
{
	spawn(2, 10, "make all");
	spawn(10, 11, "python3 /usr/bin/snakemake -j1");
	run_process(11, 12, "bwa mem x");
	run_process(11, 13, "samtools sort x");
	ck_assert_str_eq(rows("SELECT t.kind, t.process_count, p.name FROM standing_tasks t LEFT JOIN tasks p "
			      "ON p.id = t.parent_task_id JOIN runs r ON r.id = t.run_id WHERE r.kind = "
			      "'command' ORDER BY t.begin_boot_ns"),
			 "main 1 -\nengine 1 make\nengine 1 snakemake\nengine 1 snakemake\n");
}
END_TEST

/* ---- pipes */

START_TEST(a_pipe_makes_siblings_one_task)
{
	spawn(2, 10, "bash driver.sh");
	run_process(10, 11, "bwa index x");
	fork_process(10, 12);
	fork_process(10, 13);
	fork_process(10, 14);
	/* The last of the three executes first, the middle one last. */
	exec_in(14, (struct where){.stdin_pipe = 72}, "gzip");
	exec_in(12, (struct where){.stdout_pipe = 71}, "bwa mem x");
	exec_in(13, (struct where){.stdin_pipe = 71, .stdout_pipe = 72}, "samtools sort");
	exit_process(12, 13); /* SIGPIPE: its reader had enough */
	exit_process(13, 0);
	exit_process(14, 0);
	ck_assert_tasks("main: driver.sh [driver.sh] running\n"
			"generic: bwa index [bwa index] succeeded\n"
			"generic: bwa mem + samtools sort + gzip [gzip, bwa mem, samtools sort] succeeded\n");
}
END_TEST

START_TEST(helpers_in_a_pipe_belong_to_it_whoever_came_first)
{
	spawn(2, 10, "bash driver.sh");
	run_process(10, 11, "bwa index x");
	fork_process(10, 12);
	fork_process(10, 13);
	fork_process(10, 14);
	fork_process(10, 15);
	exec_in(12, (struct where){.stdout_pipe = 71}, "cat x");
	exec_in(13, (struct where){.stdin_pipe = 71, .stdout_pipe = 72}, "tr a b");
	exec_in(14, (struct where){.stdin_pipe = 72, .stdout_pipe = 73}, "sort");
	exec_in(15, (struct where){.stdin_pipe = 73}, "head");
	run_process(10, 16, "cat y");
	ck_assert_tasks("main: driver.sh [driver.sh, cat] running\n"
			"generic: bwa index [bwa index] succeeded\n"
			"generic: sort [cat, tr, sort, head] running\n");
	ck_assert_str_eq(rows("SELECT sum(t.process_count), max(r.process_count) FROM standing_tasks t JOIN "
			      "(SELECT id, process_count FROM runs WHERE kind = 'command') r ON r.id = "
			      "t.run_id"),
			 "7 7\n");
}
END_TEST

START_TEST(background_jobs_are_tasks_of_their_own)
{
	spawn(2, 10, "bash driver.sh");
	spawn(10, 11, "bwa index x");
	spawn(10, 12, "samtools faidx x");
	exit_process(11, 1 << 8);
	exit_process(12, 9);
	ck_assert_tasks("main: driver.sh [driver.sh] running\n"
			"generic: bwa index [bwa index] failed\n"
			"generic: samtools faidx [samtools faidx] killed\n");
	ck_assert_str_eq(rows("SELECT kind FROM incidents ORDER BY boot_ns"), "exit-code\nsignal\n");
}
END_TEST

START_TEST(an_incident_names_the_first_cause)
{
	spawn(2, 10, "python3 /usr/bin/snakemake -j2");
	spawn(10, 11, "bash -c x");
	spawn(11, 12, "bwa mem x");
	exit_process(12, 3 << 8);
	exit_process(11, 1 << 8);
	ck_assert_str_eq(rows("SELECT kind, sentence FROM incidents"),
			 "exit-code task bwa mem failed: bwa mem (pid 12) exited with code 3 after 0.0 s\n");
}
END_TEST

START_TEST(an_incident_tells_of_the_oom_killer)
{
	struct event_exit *exit;

	spawn(2, 10, "bwa mem x");
	exit = &begin_event(EVENT_EXIT)->exit;
	exit->boot_ns = now;
	exit->image = key(10);
	exit->counters = cpu(5 * MS);
	exit->wait_status = 9;
	exit->flags = RECORD_EXIT_OOM;
	apply();
	ck_assert_str_eq(rows("SELECT signal, oom_killed FROM processes WHERE pid = 10"), "9 1\n");
	ck_assert_str_eq(rows("SELECT kind FROM incidents ORDER BY kind"), "oom-kill\nsignal\n");
}
END_TEST

/* ---- forks */

START_TEST(a_subshell_is_a_subtree_and_a_worker_a_part_of_its_tool)
{
	spawn(2, 10, "bash driver.sh");
	run_process(10, 11, "bwa index x");
	fork_process(10, 12); /* ( gzip; sort ) */
	run_process(12, 13, "gzip x");
	run_process(12, 14, "sort y");
	exit_process(12, 0);
	spawn(10, 15, "train");
	fork_process(15, 16); /* a worker that only computes */
	exit_process(16, 0);
	ck_assert_tasks("main: driver.sh [driver.sh] running\n"
			"generic: bwa index [bwa index] succeeded\n"
			"generic: gzip + sort [driver.sh, gzip, sort] succeeded\n"
			"generic: train [train] running\n");
	ck_assert_str_eq(rows("SELECT process_count FROM tools WHERE name = 'train'"), "2\n");
}
END_TEST

START_TEST(a_daemon_stays_in_the_run_that_began_it)
{
	spawn(2, 10, "bash driver.sh");
	fork_process(10, 11);
	fork_process(11, 12);
	exit_process(11, 0); /* the first fork leaves, the second goes on */
	exit_process(10, 0);
	wait_ms(20000);
	commit();
	exec_process(12, "cached");
	ck_assert_str_eq(rows("SELECT kind, status, living_count FROM runs WHERE kind <> 'system'"),
			 "command succeeded 1\n");
}
END_TEST

START_TEST(every_exec_is_an_image_of_its_own)
{
	spawn(2, 10, "bash driver.sh");
	exec_process(10, "samtools view x");
	exit_process(10, 0);
	ck_assert_str_eq(rows("SELECT program, began, ended, totals, exit_code, cpu_ns, spawn_cpu_ns FROM "
			      "processes WHERE pid = 10 ORDER BY exec_id"),
			 "bash exec exec exec - 2000000 2000000\n"
			 "samtools exec exit final 0 4000000 -\n");
}
END_TEST

START_TEST(how_a_process_ended_is_told_as_wait_does)
{
	spawn(2, 10, "a");
	spawn(2, 11, "b");
	spawn(2, 12, "c");
	exit_process(10, 255 << 8);
	exit_process(11, 64);
	exit_process(12, 0x80 | 6);
	ck_assert_str_eq(rows("SELECT exit_code, signal, core_dumped FROM processes WHERE pid >= 10 "
			      "ORDER BY pid"),
			 "255 - 0\n- 64 0\n- 6 1\n");
}
END_TEST

START_TEST(the_final_record_stands_and_keeps_what_the_exit_knew)
{
	struct counters final = cpu(8 * MS);

	final.valid &= ~COUNTER_VALID(read_bytes);
	spawn(2, 10, "bwa mem x");
	end_as(EVENT_EXIT, 10, 0, cpu(5 * MS));
	end_as(EVENT_FINAL, 10, 0, final);
	end_as(EVENT_EXIT, 10, 0, cpu(5 * MS));
	ck_assert_str_eq(rows("SELECT totals, cpu_ns, read_bytes FROM processes WHERE pid = 10"),
			 "final 8000000 4096\n");
}
END_TEST

/* signal.maxrss is the largest of all images, the one that was forked included. */
START_TEST(a_maximum_that_did_not_grow_says_nothing_of_the_image)
{
	struct counters fat = cpu(5 * MS);
	struct event_exec *exec;

	fat.valid |= COUNTER_VALID(maxrss_bytes);
	fat.maxrss_bytes = 4096;
	fork_process(2, 10);
	exec = &begin_event(EVENT_EXEC)->exec;
	exec_ids[10]++;
	exec->boot_ns = now;
	exec->image = key(10);
	exec->counters = fat;
	exec->comm = exec->cwd = bytes("");
	exec->filename = bytes("/usr/bin/true");
	exec->argv.item[exec->argv.count++] = bytes("true");
	apply();
	end_as(EVENT_EXIT, 10, 0, fat);
	ck_assert_str_eq(rows("SELECT peak_rss_bytes FROM processes WHERE pid = 10"), "-\n");
	fat.maxrss_bytes++;
	end_as(EVENT_FINAL, 10, 0, fat);
	ck_assert_str_eq(rows("SELECT peak_rss_bytes FROM processes WHERE pid = 10"), "4097\n");
}
END_TEST

START_TEST(user_and_system_time_are_split_as_the_kernel_does)
{
	run_process(2, 10, "bwa mem");
	ck_assert_str_eq(rows("SELECT cpu_ns, user_ns, system_ns, rchar_bytes FROM processes WHERE pid = 10"),
			 "6000000 4500000 1500000 -\n");
}
END_TEST

/* ---- passes */

START_TEST(found_processes_are_placed_whatever_their_order)
{
	sample(30, 20, "bwa mem x", cpu(9 * MS));
	sample(20, 2, "bash driver.sh", cpu(MS));
	pass(now);
	now += MS;
	run_process(20, 31, "samtools sort");
	ck_assert_tasks("main: driver.sh [driver.sh] running\n"
			"generic: bwa mem [bwa mem] running\n"
			"generic: samtools sort [samtools sort] succeeded\n");
	ck_assert_str_eq(rows("SELECT began, totals, cpu_ns FROM processes WHERE pid = 30"),
			 "found sample 9000000\n");
}
END_TEST

START_TEST(kernel_threads_are_the_host_s_own)
{
	sample_as(70, 0, "kworker", cpu(0), RECORD_KERNEL_THREAD);
	sample(71, 0, "stray", cpu(0));
	pass(now);
	now += MS;
	run_process(2, 10, "bwa mem x");
	ck_assert_str_eq(rows("SELECT r.kind FROM processes p JOIN runs r ON r.id = p.run_id WHERE "
			      "p.pid IN (70, 71) ORDER BY p.pid"),
			 "system\nfound\n");
}
END_TEST

START_TEST(a_zombie_is_not_found_anew)
{
	run_process(2, 10, "bwa mem x");
	wait_ms(20000);
	commit(); /* forgotten */
	sample_as(10, 2, "bwa mem x", cpu(9 * MS), RECORD_EXITING);
	wait_ms(1000);
	run_process(2, 11, "gzip x");
	ck_assert_str_eq(rows("SELECT began, ended, totals, cpu_ns FROM processes WHERE pid = 10"),
			 "exec exit final 6000000\n");
}
END_TEST

START_TEST(memory_at_one_moment_is_the_sum_of_those_who_live)
{
	struct counters held = cpu(2 * MS);

	held.valid |= COUNTER_VALID(rss_anon_bytes) | COUNTER_VALID(peak_rss_bytes);
	held.rss_anon_bytes = 1000;
	held.peak_rss_bytes = 3000;
	spawn(2, 10, "bwa mem x");
	fork_process(10, 11); /* its worker */
	sample(10, 2, NULL, held);
	sample(11, 10, NULL, held);
	ck_assert_str_eq(rows("SELECT concurrent_memory_bytes FROM runs WHERE kind = 'command'"), "-\n");
	pass(now); /* changes nothing else */
	ck_assert_str_eq(rows("SELECT r.concurrent_memory_bytes, t.concurrent_memory_bytes, "
			      "l.concurrent_memory_bytes FROM runs r JOIN tasks t ON t.run_id = r.id JOIN "
			      "tools l ON l.task_id = t.id WHERE r.kind = 'command'"),
			 "2000 2000 2000\n");
	held.cpu_ns = 3 * MS;
	sample(10, 2, NULL, held);
	ck_assert_str_eq(rows("SELECT r.peak_rss_bytes, t.peak_rss_bytes, l.peak_rss_bytes FROM runs r JOIN "
			      "tasks t ON t.run_id = r.id JOIN tools l ON l.task_id = t.id "
			      "WHERE r.kind = 'command'"),
			 "3000 3000 3000\n");
}
END_TEST

START_TEST(who_is_in_no_pass_is_lost)
{
	spawn(2, 10, "bwa mem x");
	for (int i = 0; i < 3; i++)
		wait_ms(1000);
	ck_assert_str_eq(rows("SELECT ended, totals, exit_code FROM processes WHERE pid = 10"),
			 "lost sample -\n");
	ck_assert_str_eq(rows("SELECT status FROM runs WHERE kind <> 'system'"), "ended\n");
}
END_TEST

START_TEST(another_boot_ends_everything)
{
	spawn(2, 10, "bwa mem x");
	hello("boot-2");
	ck_assert_str_eq(rows("SELECT count(*) FROM processes WHERE ended IS NULL"), "0\n");
	run_process(2, 10, "bwa mem x");
	ck_assert_str_eq(rows("SELECT count(DISTINCT id) FROM processes WHERE pid = 10"), "2\n");
}
END_TEST

/* ---- loss, repetition, restart */

START_TEST(init_of_the_next_boot_is_another_one)
{
	hello("boot-2");
	exec_ids[1] = exec_ids[2] = 0;
	sample(1, 0, "systemd", cpu(0)); /* begun at the very same time */
	sample(2, 1, "sshd -D", cpu(0));
	pass(now);
	now += MS;
	run_process(2, 10, "bwa mem x");
	ck_assert_str_eq(rows("SELECT pid, ifnull(ended, 'lives') FROM processes WHERE pid < 3 "
			      "ORDER BY pid, 2"),
			 "1 lives\n1 lost\n2 lives\n2 lost\n");
	ck_assert_str_eq(rows("SELECT kind, living_count FROM runs ORDER BY kind, living_count"),
			 "command 0\nsystem 0\nsystem 2\n");
}
END_TEST

START_TEST(losses_make_what_ran_there_incomplete)
{
	struct wire_loss *loss;

	spawn(2, 10, "bwa mem x");
	loss = &begin(WIRE_LOSS)->loss;
	loss->type = RECORD_EXEC;
	loss->cgroup_id = CGROUP_BASE;
	loss->count = 5;
	loss->first_boot_ns = loss->last_boot_ns = now;
	apply();
	loss = &begin(WIRE_LOSS)->loss;
	loss->type = RECORD_FINAL; /* the figures of the exit stand instead */
	loss->cgroup_id = CGROUP_BASE;
	loss->count = 3;
	loss->first_boot_ns = loss->last_boot_ns = now;
	apply();
	ck_assert_str_eq(rows("SELECT lost_count FROM runs WHERE kind <> 'system'"), "5\n");
	ck_assert_str_eq(rows("SELECT kind, lost_count FROM losses ORDER BY 1"), "exec 5\nfinal 3\n");
}
END_TEST

START_TEST(an_event_told_twice_counts_once)
{
	spawn(2, 10, "bwa mem x");
	exec_ids[10]--;
	exec_process(10, "bwa mem x");
	exit_process(10, 0);
	exit_process(10, 0);
	ck_assert_str_eq(rows("SELECT process_count, cpu_ns FROM runs WHERE kind <> 'system'"), "1 6000000\n");
}
END_TEST

START_TEST(a_restart_changes_nothing)
{
	spawn(2, 10, "bash outer.sh");
	spawn(10, 11, "bash inner.sh");
	run_process(11, 12, "bwa index x");
	spawn(11, 13, "bwa mem x");
	fork_process(10, 14); /* forked, nothing more is known */
	commit();
	close_model();
	open_model();
	hello("boot-1");
	exec_process(14, "multiqc .");
	exit_process(14, 0);
	exit_process(13, 0);
	exit_process(11, 0);
	exit_process(10, 0);
	ck_assert_tasks("main: outer.sh [outer.sh] succeeded\n"
			"generic: inner.sh [inner.sh, bwa index, bwa mem] succeeded\n"
			"generic: multiqc [multiqc] succeeded\n");
	ck_assert_str_eq(rows("SELECT count(*), sum(cpu_ns), min(totals) FROM processes WHERE pid >= 10"),
			 "5 30000000 final\n");
	wait_ms(60000);
	commit();
	commit(); /* what has gone is forgotten with the commit after */
	/* left: the system run, its task, systemd and sshd */
	ck_assert_str_eq(rows("SELECT count(*) FROM checkpoints"), "4\n");
}
END_TEST

/* Hostile: links in a circle, ids of nobody, exits of the unknown. */
START_TEST(nonsense_is_survived)
{
	exec_ids[50] = exec_ids[51] = 1;
	sample(50, 51, "a", cpu(0));
	sample(51, 50, "b", cpu(0));
	pass(now);
	now += MS;
	fork_process(60, 60);
	spawn(60, 61, "c");
	exit_process(70, 0);
	end_as(EVENT_FINAL, 61, 0, cpu(0));
	end_as(EVENT_EXIT, 61, 0, cpu(0));
	exec_process(61, "too late");
	ck_assert_str_eq(rows("SELECT count(*) FROM processes p LEFT JOIN standing_tasks t ON t.id = "
			      "p.task_id WHERE t.id IS NULL"),
			 "0\n");
}
END_TEST

START_TEST(what_a_rule_ignores_is_not_stored_but_leads_to_its_children)
{
	spawn(2, 10, "bash driver.sh");
	spawn(10, 11, "hidden");
	run_process(11, 12, "bwa mem x");
	exit_process(11, 0);
	spawn(10, 13, "hidden");
	exec_process(13, "gzip"); /* it shows itself after all */
	exit_process(13, 0);
	ck_assert_str_eq(rows("SELECT p.program, q.program, p.cpu_ns FROM processes p LEFT JOIN processes q ON "
			      "q.id = p.parent_id WHERE p.pid > 10 ORDER BY p.begin_boot_ns"),
			 "bwa - 6000000\ngzip bash 4000000\n");
	ck_assert_str_eq(rows("SELECT kind, process_count FROM runs WHERE kind <> 'system'"), "command 3\n");
}
END_TEST

START_TEST(what_the_kernel_ignores_is_followed_no_further)
{
	struct event_ignored *ignored;

	spawn(2, 10, "bwa mem x");
	ignored = &begin_event(EVENT_IGNORED)->ignored;
	exec_ids[10]++;
	ignored->boot_ns = now;
	ignored->image = key(10);
	apply();
	ck_assert_str_eq(rows("SELECT program, ended FROM processes WHERE pid = 10"), "bwa exec\n");
	wait_ms(20000);
	commit();
	commit();
	/* left: the system run, its task, systemd and sshd */
	ck_assert_str_eq(rows("SELECT count(*) FROM checkpoints"), "4\n");
}
END_TEST

START_TEST(program_only_stores_no_argument)
{
	commit();
	close_model();
	arguments = REDACT_PROGRAM_ONLY;
	open_model();
	hello("boot-1");
	run_process(2, 10, "mysql --host db secret");
	ck_assert_str_eq(rows("SELECT hex(arguments) FROM processes WHERE pid = 10"), "6D7973716C00\n");
}
END_TEST

START_TEST(secrets_are_gone_before_anything_is_stored)
{
	run_process(2, 10, "mysql --password=hunter2 db");
	ck_assert_str_eq(rows("SELECT redacted_count, instr(CAST(arguments AS TEXT), 'hunter2') FROM "
			      "processes WHERE pid = 10"),
			 "1 0\n");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("model");
	TCase *all = tcase_create("streams");

	log_init("check_model", LOG_LEVEL_ERROR);
	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, a_command_beneath_an_origin_is_a_run);
	tcase_add_test(all, tracer_run_marks_a_run_wherever_it_is);
	tcase_add_test(all, what_cron_starts_is_a_run_of_kind_cron);
	tcase_add_test(all, jobs_of_an_interactive_shell_are_runs);
	tcase_add_test(all, a_process_without_a_known_parent_has_a_run_of_its_own);
	tcase_add_test(all, a_slurm_job_is_a_run_and_its_steps_are_tasks);
	tcase_add_test(all, a_container_belongs_to_the_client_that_waits_for_it);
	tcase_add_test(all, the_runtime_that_makes_a_container_is_the_hosts);
	tcase_add_test(all, a_container_that_nobody_waits_for_is_a_run);
	tcase_add_test(all, one_subtree_after_another_opens_no_task);
	tcase_add_test(all, subtrees_of_the_outermost_orchestrator_are_tasks);
	tcase_add_test(all, an_orchestrator_found_further_out_takes_over);
	tcase_add_test(all, direct_subtrees_of_an_engine_are_tasks);
	tcase_add_test(all, a_worker_that_an_engine_forked_is_the_engine);
	tcase_add_test(all, a_pipe_beneath_an_engine_is_one_task);
	tcase_add_test(all, a_workflow_engine_inside_make_outranks_it);
	tcase_add_test(all, a_pipe_makes_siblings_one_task);
	tcase_add_test(all, helpers_in_a_pipe_belong_to_it_whoever_came_first);
	tcase_add_test(all, background_jobs_are_tasks_of_their_own);
	tcase_add_test(all, an_incident_names_the_first_cause);
	tcase_add_test(all, an_incident_tells_of_the_oom_killer);
	tcase_add_test(all, a_subshell_is_a_subtree_and_a_worker_a_part_of_its_tool);
	tcase_add_test(all, a_daemon_stays_in_the_run_that_began_it);
	tcase_add_test(all, every_exec_is_an_image_of_its_own);
	tcase_add_test(all, how_a_process_ended_is_told_as_wait_does);
	tcase_add_test(all, the_final_record_stands_and_keeps_what_the_exit_knew);
	tcase_add_test(all, a_maximum_that_did_not_grow_says_nothing_of_the_image);
	tcase_add_test(all, user_and_system_time_are_split_as_the_kernel_does);
	tcase_add_test(all, found_processes_are_placed_whatever_their_order);
	tcase_add_test(all, kernel_threads_are_the_host_s_own);
	tcase_add_test(all, a_zombie_is_not_found_anew);
	tcase_add_test(all, memory_at_one_moment_is_the_sum_of_those_who_live);
	tcase_add_test(all, who_is_in_no_pass_is_lost);
	tcase_add_test(all, another_boot_ends_everything);
	tcase_add_test(all, init_of_the_next_boot_is_another_one);
	tcase_add_test(all, losses_make_what_ran_there_incomplete);
	tcase_add_test(all, an_event_told_twice_counts_once);
	tcase_add_test(all, a_restart_changes_nothing);
	tcase_add_test(all, nonsense_is_survived);
	tcase_add_test(all, what_the_kernel_ignores_is_followed_no_further);
	tcase_add_test(all, program_only_stores_no_argument);
	tcase_add_test(all, what_a_rule_ignores_is_not_stored_but_leads_to_its_children);
	tcase_add_test(all, secrets_are_gone_before_anything_is_stored);
	suite_add_tcase(suite, all);
	SRunner *runner = srunner_create(suite);

	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
