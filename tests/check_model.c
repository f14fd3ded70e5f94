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

/* ---- why something failed */

enum { KERNEL_SENT = 128 }; /* SI_KERNEL */

/* `sender` 0: the kernel. */
static void send_signal(unsigned pid, unsigned sender, unsigned number, int code)
{
	struct event_signal *s = &begin_event(EVENT_SIGNAL)->signal;

	s->boot_ns = now;
	s->image = key(pid);
	if (sender)
		s->sender = key(sender);
	s->signal = number;
	s->code = code;
	s->flags = RECORD_SIGNAL_GROUP;
	apply();
}

/* A pipeline step that runs, and somebody's shell and daemon beside it. */
static void begin_step(void)
{
	spawn(2, 10, "python3 /usr/bin/snakemake -j2");
	spawn(10, 11, "bash -c x");
	spawn(11, 12, "bwa mem x");
	spawn(2, 13, "nano");
}

static void end_step(unsigned status)
{
	exit_process(12, status);
	exit_process(11, status ? 1 << 8 : 0);
}

#define INCIDENT "SELECT kind, sentence, cause, sender_program, sender_user_id IS NOT NULL FROM incidents"

static const struct {
	unsigned sender, number;
	int code;
	const char *incident;
} senders[] = {
	{0, 2, KERNEL_SENT, "SIGINT from the terminal (^C) after 0.0 s it was interrupted at its terminal - 0\n"},
	{0, 1, KERNEL_SENT, "SIGHUP from the terminal after 0.0 s its terminal was closed - 0\n"},
	{0, 24, KERNEL_SENT, "SIGXCPU from the kernel after 0.0 s it reached its limit of processor time "
			     "(RLIMIT_CPU) - 0\n"},
	{0, 9, KERNEL_SENT, "SIGKILL from the kernel after 0.0 s - - 0\n"},
	{12, 15, 0, "SIGTERM from itself after 0.0 s it sent the signal to itself bwa mem 1\n"},
	{11, 15, 0, "SIGTERM from bash -c (pid 11, user root) after 0.0 s its parent bash -c ended it "
		    "bash -c 1\n"},
	{10, 9, 0, "SIGKILL from snakemake (pid 10, user root) after 0.0 s snakemake, which it ran "
		   "beneath, ended it snakemake 1\n"},
	{13, 9, 0, "SIGKILL from nano (pid 13, user root) after 0.0 s nano, which is not of its run, "
		   "ended it nano 1\n"},
	{2, 15, 0, "SIGTERM from sshd (pid 2, user root) after 0.0 s sshd, which starts and stops runs, "
		   "ended it sshd 1\n"},
	{77, 9, -6, "SIGKILL from a process (pid 77, user root) after 0.0 s - - 1\n"},
};

START_TEST(who_sent_a_fatal_signal)
{
	char expected[512];

	begin_step();
	send_signal(12, senders[_i].sender, senders[_i].number, senders[_i].code);
	end_step(senders[_i].number);
	snprintf(expected, sizeof(expected), "exit-code task bwa mem failed: bwa mem (pid 12) was killed by %s",
		 senders[_i].incident);
	ck_assert_str_eq(rows(INCIDENT), expected);
}
END_TEST

START_TEST(a_batch_daemon_is_told_from_a_user)
{
	cgroup(300, "/slurm_host/uid_0/job_7/step_batch");
	spawn(1, 19, "slurmd");
	spawn(19, 20, "slurmstepd");
	fork_process(20, 21);
	exec_in(21, (struct where){.cgroup_id = 300}, "bash /var/spool/slurmd/job7/slurm_script");
	send_signal(21, 20, 18, 0); /* SIGCONT comes first, and is not fatal */
	send_signal(21, 20, 15, 0);
	exit_process(21, 15);
	ck_assert_str_eq(rows("SELECT kind, cause, sender_program FROM incidents"),
			 "signal slurmstepd, the batch system's daemon, ended the job: its time limit or "
			 "another limit was reached, or it was cancelled slurmstepd\n");
}
END_TEST

/* Who handles a signal and then ends says so by its code, or at least ends soon. */
START_TEST(a_handled_signal_is_told_too)
{
	begin_step();
	send_signal(12, 10, 10, 0);
	send_signal(12, 13, 15, 0);
	send_signal(12, 10, 12, 0);
	end_step((128 + 15) << 8);
	ck_assert_str_eq(rows("SELECT sentence FROM incidents"),
			 "task bwa mem failed: bwa mem (pid 12) exited with code 143 after 0.0 s, 0.0 s "
			 "after SIGTERM from nano (pid 13, user root)\n");
}
END_TEST

START_TEST(an_earlier_signal_is_not_to_blame)
{
	begin_step();
	send_signal(12, 13, 10, 0);
	end_step(11);
	ck_assert_str_eq(rows(INCIDENT),
			 "exit-code task bwa mem failed: bwa mem (pid 12) was killed by SIGSEGV after 0.0 s "
			 "it used memory that it may not - 0\n");
}
END_TEST

START_TEST(a_restart_remembers_who_sent_it)
{
	begin_step();
	send_signal(12, 13, 9, 0);
	commit();
	close_model();
	open_model();
	hello("boot-1");
	end_step(9);
	ck_assert_str_eq(rows("SELECT sender_program FROM incidents"), "nano\n");
}
END_TEST

/* Only the second subtree of the driver shows that the first, which is over, was a task. */
START_TEST(a_task_that_shows_itself_late_is_told_too)
{
	spawn(2, 10, "bash driver.sh");
	spawn(10, 11, "timeout 1 bwa mem x");
	spawn(11, 12, "bwa mem x");
	send_signal(12, 11, 15, 0);
	exit_process(12, 15);
	exit_process(11, 124 << 8);
	spawn(10, 13, "sort y");
	exit_process(13, 0);
	exit_process(10, 0);
	ck_assert_str_eq(rows("SELECT t.name, t.status, i.sender_program FROM incidents i JOIN tasks t ON t.id = "
			      "i.task_id"),
			 "bwa mem failed timeout\n");
}
END_TEST

/* grep may fail on purpose; what was killed explains more, whichever came first. */
START_TEST(the_gravest_failure_explains_a_task)
{
	begin_step();
	spawn(11, 14, "grep x");
	exit_process(14, 1 << 8);
	spawn(11, 15, "sort");
	send_signal(15, 13, 9, 0);
	exit_process(15, 9);
	end_step(2 << 8);
	ck_assert_str_eq(rows("SELECT p.pid, i.sender_program FROM incidents i JOIN processes p ON p.id = "
			      "i.process_id"),
			 "15 nano\n");
}
END_TEST

START_TEST(a_command_that_could_not_be_executed)
{
	begin_step();
	for (unsigned pid = 20; pid < 24; pid++) {
		fork_process(11, pid);
		exit_process(pid, (pid == 23 ? 126u : 127u) << 8);
	}
	fork_process(11, 24);
	exit_process(24, 1 << 8); /* a subshell that failed: no command */
	spawn(11, 25, "sort x");
	exit_process(25, 127 << 8); /* it was executed */
	ck_assert_str_eq(rows("SELECT kind, sentence, cause FROM incidents ORDER BY boot_ns"),
			 "failed-command bash -c (pid 20) could not execute a command (code 127) there is no "
			 "such command\n"
			 "failed-command bash -c (pid 23) could not execute a command (code 126) the command "
			 "is there but cannot be executed\n");
}
END_TEST

#define MIB (UINT64_C(1) << 20)

static struct counters in_cgroup(uint64_t limit, uint64_t peak, uint64_t throttled_ns)
{
	struct counters counters = cpu(5 * MS);

	counters.valid |= COUNTER_VALID(cgroup_memory_peak_bytes) | COUNTER_VALID(cgroup_throttled_ns);
	counters.cgroup_memory_peak_bytes = peak;
	counters.cgroup_throttled_ns = throttled_ns;
	if (limit) {
		counters.valid |= COUNTER_VALID(cgroup_memory_limit_bytes);
		counters.cgroup_memory_limit_bytes = limit;
	}
	return counters;
}

static const struct {
	uint64_t limit, peak;
	const char *cause;
} out_of_memory[] = {
	{512 * MIB, 512 * MIB, "its cgroup /job reached its memory limit of 512.0 MiB (at most 512.0 MiB used)\n"},
	{512 * MIB, 512 * MIB - 65536, "its cgroup /job reached its memory limit of 512.0 MiB (at most 511.9 MiB "
				       "used)\n"},
	{512 * MIB, 100 * MIB, "memory ran out above its cgroup /job, which used 100.0 MiB at most of the "
			       "512.0 MiB that it may\n"},
	{0, 100 * MIB, "the host ran out of memory: its cgroup /job has no limit and used 100.0 MiB at most\n"},
	{0, 0, "memory ran out; what its cgroup may use is not known\n"},
};

START_TEST(an_oom_kill_names_its_cgroup_and_limit)
{
	struct event_exit *e;

	cgroup(300, "/job");
	fork_process(2, 10);
	exec_in(10, (struct where){.cgroup_id = 300}, "bwa mem x");
	e = &begin_event(EVENT_EXIT)->exit;
	e->boot_ns = now;
	e->image = key(10);
	e->counters = out_of_memory[_i].peak ? in_cgroup(out_of_memory[_i].limit, out_of_memory[_i].peak, 0)
					     : cpu(5 * MS);
	e->wait_status = 9;
	e->flags = RECORD_EXIT_OOM;
	apply();
	ck_assert_str_eq(rows("SELECT cause FROM incidents WHERE kind = 'oom-kill'"), out_of_memory[_i].cause);
}
END_TEST

/* ---- requested against used, network, sleep, devices */

START_TEST(limits_and_use_are_of_the_cgroup_that_used_most)
{
	struct counters counters = in_cgroup(512 * MIB, 300 * MIB, 70 * MS);

	cgroup(300, "/docker/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");
	cgroup(301, "/other");
	spawn(2, 10, "bash driver.sh");
	fork_process(10, 11);
	exec_in(11, (struct where){.cgroup_id = 300}, "bwa mem x");
	fork_process(10, 12);
	exec_in(12, (struct where){.cgroup_id = 301}, "bwa mem y");
	sample(11, 10, NULL, counters);
	counters = in_cgroup(512 * MIB, 400 * MIB, 90 * MS);
	end_as(EVENT_EXIT, 11, 0, counters);
	end_as(EVENT_EXIT, 12, 0, in_cgroup(64 * MIB, 60 * MIB, 0)); /* another cgroup, that used less */
	ck_assert_str_eq(rows("SELECT memory_limit_bytes / 1048576, cgroup_peak_bytes / 1048576, throttled_ns / "
			      "1000000 FROM runs WHERE kind = 'command'"), "512 400 20\n");
	ck_assert_str_eq(rows("SELECT memory_limit_bytes / 1048576, cgroup_peak_bytes / 1048576 FROM tasks WHERE "
			      "kind = 'generic' ORDER BY begin_boot_ns"), "512 400\n64 60\n");
	ck_assert_str_eq(rows("SELECT memory_limit_bytes / 1048576, cgroup_peak_bytes / 1048576 FROM containers"),
			 "512 400\n");
}
END_TEST

START_TEST(no_limit_is_unknown)
{
	spawn(2, 10, "bwa mem x");
	end_as(EVENT_EXIT, 10, 0, in_cgroup(0, 60 * MIB, 0));
	ck_assert_str_eq(rows("SELECT memory_limit_bytes, cgroup_peak_bytes / 1048576 FROM runs WHERE kind = "
			      "'command'"), "- 60\n");
	ck_assert_str_eq(rows("SELECT count(*) FROM processes WHERE sent_bytes IS NOT NULL OR memory_delay_ns IS "
			      "NOT NULL OR uninterruptible_ns IS NOT NULL OR gpu IS NOT NULL"), "0\n");
	ck_assert_str_eq(rows("SELECT count(*) FROM runs WHERE sent_bytes IS NOT NULL"), "0\n");
}
END_TEST

START_TEST(network_and_memory_delay_add_up)
{
	struct counters counters = cpu(5 * MS);

	counters.valid |= COUNTER_VALID(sent_bytes) | COUNTER_VALID(received_bytes) |
			  COUNTER_VALID(memory_delay_ns);
	counters.sent_bytes = 1000;
	counters.received_bytes = 500;
	counters.memory_delay_ns = 7 * MS;
	spawn(2, 10, "bash driver.sh");
	spawn(10, 11, "curl a");
	spawn(10, 12, "curl b");
	end_as(EVENT_EXIT, 11, 0, counters);
	counters.sent_bytes = 10;
	end_as(EVENT_EXIT, 12, 0, counters);
	ck_assert_str_eq(rows("SELECT sent_bytes, received_bytes, memory_delay_ns / 1000000 FROM runs WHERE kind = "
			      "'command'"), "1010 1000 14\n");
	ck_assert_str_eq(rows("SELECT pid, sent_bytes FROM processes WHERE pid > 10 ORDER BY pid"),
			 "11 1000\n12 10\n");
}
END_TEST

static void device(unsigned pid, unsigned major, unsigned minor)
{
	struct event_device *d = &begin_event(EVENT_DEVICE)->device;

	d->boot_ns = now;
	d->image = key(pid);
	d->major = major;
	d->minor = minor;
	apply();
}

START_TEST(gpu_devices_that_it_holds)
{
	spawn(2, 10, "python3 train.py");
	device(10, 195, 0);
	device(10, 195, 255);
	device(10, 195, 0);
	device(10, 226, 128);
	device(10, 226, 1);
	device(10, 511, 3);
	device(77, 195, 0); /* unknown to us */
	commit();
	close_model();
	open_model(); /* a restart forgets none */
	hello("boot-1");
	device(10, 195, 10);
	exit_process(10, 0);
	ck_assert_str_eq(rows("SELECT gpu FROM processes WHERE pid = 10"),
			 "nvidia0,nvidiactl,dri/renderD128,dri/card1,511:3,nvidia10\n");
}
END_TEST

START_TEST(a_container_is_called_as_its_monitor_or_client_says)
{
	static const char id[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	char monitor[256], group[128];

	snprintf(group, sizeof(group), "/machine.slice/libpod-%s.scope/container", id);
	cgroup(300, group);
	snprintf(monitor, sizeof(monitor), "conmon -c %s -n gallant_bell -r runc", id);
	spawn(2, 10, "podman run --rm docker.io/library/debian:12 bwa mem");
	spawn(10, 11, monitor);
	fork_process(11, 12);
	exec_in(12, (struct where){.cgroup_id = 300}, "bwa mem x");
	cgroup(301, "/system.slice/docker-fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210.scope");
	spawn(1, 20, "containerd-shim-runc-v2 -namespace moby");
	spawn(2, 21, "docker run --name web nginx:1");
	fork_process(20, 22);
	exec_in(22, (struct where){.cgroup_id = 301}, "nginx -g daemon off;");
	commit();
	close_model();
	open_model(); /* and after a restart */
	hello("boot-1");
	fork_process(12, 13);
	exec_in(13, (struct where){.cgroup_id = 300}, "sort");
	ck_assert_str_eq(rows("SELECT runtime, name, image FROM containers ORDER BY runtime"),
			 "docker web nginx:1\npodman gallant_bell docker.io/library/debian:12\n");
}
END_TEST

/* ---- what stands still */

/* A pass every 10 s for `seconds` over a step of begin_step(): who is `blocked` is in
 * uninterruptible sleep, and 11 and 12 stand still where `cpu_ms` says so. */
static uint64_t cpu_ms[100];

static void stand(unsigned seconds, unsigned blocked)
{
	static const unsigned pids[] = {1, 2, 10, 11, 12, 13};

	for (unsigned second = 0; second < seconds; second += 10) {
		uint64_t boot_ns = now += 10000 * MS;

		for (size_t i = 0; i < sizeof(pids) / sizeof(pids[0]); i++) {
			struct counters counters = cpu(cpu_ms[pids[i]] * MS);

			counters.valid |= COUNTER_VALID(uninterruptible_count);
			counters.uninterruptible_count = pids[i] == blocked;
			sample(pids[i], 0, NULL, counters);
		}
		pass(boot_ns);
		now = boot_ns;
	}
}

START_TEST(stuck_in_uninterruptible_sleep)
{
	memset(cpu_ms, 0, sizeof(cpu_ms));
	begin_step();
	stand(120, 12);
	ck_assert_str_eq(rows("SELECT count(*) FROM incidents"), "0\n");
	stand(20, 12);
	ck_assert_str_eq(rows("SELECT kind, sentence, end_boot_ns FROM incidents"),
			 "stuck bwa mem (pid 12) is in uninterruptible sleep, without CPU or I/O, for more than "
			 "120 s -\n");
	stand(600, 12);
	cpu_ms[12] = 5000;
	stand(20, 0);
	ck_assert_str_eq(rows("SELECT kind, sentence, (end_boot_ns - boot_ns) / 1000000000 FROM incidents"),
			 "stuck bwa mem (pid 12) was in uninterruptible sleep, without CPU or I/O, for 740 s "
			 "740\n");
	exit_process(12, 0);
	ck_assert_str_eq(rows("SELECT uninterruptible_ns / 1000000000 FROM processes WHERE pid = 12"), "740\n");
	ck_assert_str_eq(rows("SELECT uninterruptible_ns FROM processes WHERE pid = 13"), "0\n");
}
END_TEST

/* Blocked at every look, and at work in between: a disk, not a fault. */
START_TEST(slow_storage_is_not_stuck)
{
	memset(cpu_ms, 0, sizeof(cpu_ms));
	begin_step();
	for (int i = 0; i < 30; i++) {
		cpu_ms[12] += 700;
		stand(60, 12);
	}
	ck_assert_str_eq(rows("SELECT count(*) FROM incidents"), "0\n");
}
END_TEST

START_TEST(a_task_without_progress_is_stuck)
{
	memset(cpu_ms, 0, sizeof(cpu_ms));
	begin_step();
	stand(1810, 0);
	/* bash waits for its child, snakemake for bash; nano is another run's only process */
	ck_assert_str_eq(rows("SELECT i.kind, p.pid FROM incidents i JOIN processes p ON p.id = i.process_id ORDER "
			      "BY p.pid"), "stuck 12\nstuck 13\n");
	commit();
	close_model();
	open_model();
	hello("boot-1");
	stand(60, 0);
	ck_assert_str_eq(rows("SELECT count(*), count(end_boot_ns) FROM incidents"), "2 0\n");
	exit_process(12, 0);
	ck_assert_str_eq(rows("SELECT count(*), count(end_boot_ns) FROM incidents"), "2 1\n");
}
END_TEST

START_TEST(one_of_a_task_is_idle)
{
	memset(cpu_ms, 0, sizeof(cpu_ms));
	begin_step();
	spawn(12, 14, "sort"); /* never sampled: but bwa now has a child and is not asked */
	exit_process(14, 0);
	for (int i = 0; i < 31; i++) {
		cpu_ms[11] += 700; /* its parent works */
		stand(60, 0);
	}
	ck_assert_str_eq(rows("SELECT i.kind, p.pid, i.sentence FROM incidents i JOIN processes p ON p.id = "
			      "i.process_id WHERE p.pid < 13"),
			 "idle 12 bwa mem (pid 12) is without CPU or I/O for more than 1800 s\n");
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
	tcase_add_loop_test(all, who_sent_a_fatal_signal, 0, sizeof(senders) / sizeof(senders[0]));
	tcase_add_test(all, a_batch_daemon_is_told_from_a_user);
	tcase_add_test(all, a_handled_signal_is_told_too);
	tcase_add_test(all, an_earlier_signal_is_not_to_blame);
	tcase_add_test(all, a_restart_remembers_who_sent_it);
	tcase_add_test(all, a_task_that_shows_itself_late_is_told_too);
	tcase_add_test(all, the_gravest_failure_explains_a_task);
	tcase_add_test(all, a_command_that_could_not_be_executed);
	tcase_add_loop_test(all, an_oom_kill_names_its_cgroup_and_limit, 0,
			    sizeof(out_of_memory) / sizeof(out_of_memory[0]));
	tcase_add_test(all, limits_and_use_are_of_the_cgroup_that_used_most);
	tcase_add_test(all, no_limit_is_unknown);
	tcase_add_test(all, network_and_memory_delay_add_up);
	tcase_add_test(all, gpu_devices_that_it_holds);
	tcase_add_test(all, a_container_is_called_as_its_monitor_or_client_says);
	tcase_add_test(all, stuck_in_uninterruptible_sleep);
	tcase_add_test(all, slow_storage_is_not_stuck);
	tcase_add_test(all, a_task_without_progress_is_stuck);
	tcase_add_test(all, one_of_a_task_is_idle);
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
