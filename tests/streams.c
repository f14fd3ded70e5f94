/* Hand-written event streams. See streams.h. */
#include "tests/streams.h"

#include <ctype.h>
#include <err.h>
#include <signal.h>
#include <sqlite3.h>

#include "common/log.h"
#include "correlator/apply/state.h"
#include "correlator/model/model.h"

/* The correlator is restarted before each of the first 50 events of a test, then only at powers of two
 * (64, 128, ...), because some tests have thousands of processes. */
#define RESTARTS_MAX 50

struct model *model;
uint64_t now, clock_offset_ns;
uint32_t exec_ids[PID_MAX];
static uint64_t cgroup_ids[PID_MAX]; /* of the latest exec, 0: none */
struct loss_slot loss_counts[LOSS_SLOTS];

static char directory[128], path[160];
static struct rules *rules;
static struct store *store;
static struct store_stream stream;
static struct wire_message message;
static struct record record;
static enum redact_mode arguments; /* these two for the next open_model() */
static const char *keep_arguments;
static bool is_record;          /* the next apply() takes `record`, not `message` */
static const char *latest_boot; /* boot ID of the last hello */
static bool with_restarts;
static unsigned event_count;

struct wire_bytes bytes(const char *text)
{
	return (struct wire_bytes){.data = text, .size = (uint32_t)strlen(text)};
}

struct wire_message *begin(enum wire_type type)
{
	memset(&message, 0, sizeof(message));
	message.type = type;
	is_record = false;
	now += MS;
	return &message;
}

bool has_restarts(void)
{
	return with_restarts;
}

/* Restarts the correlator without advancing the clock. Does nothing while found processes are not
 * placed yet: a restart would forget them until the next scan. */
static void restart_unseen(void)
{
	event_count++;
	if (!with_restarts || model->apply->found || (event_count > RESTARTS_MAX && (event_count & (event_count - 1))))
		return;
	restart();
	now -= MS;
}

struct record *begin_record(enum record_type type, struct image_key image)
{
	if (type != RECORD_SAMPLE && type != RECORD_MEMORY) /* a restart would discard the scan in progress */
		restart_unseen();
	is_record = true;
	now += MS;
	memset(&record, 0, sizeof(record));
	record.header = (struct record_header){.type = type, .boot_ns = now, .image = image};
	return &record;
}

void apply(void)
{
	int r = is_record ? apply_record(model, &record) : apply_message(model, &message);

	ck_assert_int_eq(r, 0);
}

struct image_key key(unsigned pid)
{
	return (struct image_key){.pid = pid, .exec_id = exec_ids[pid], .start_boot_ns = pid * MS};
}

struct counters cpu(uint64_t ns)
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

struct counters in_cgroup(uint64_t limit, uint64_t peak, uint64_t throttled_ns)
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

struct where {
	struct record_context context; /* cgroup_id and pgid 0: the default */
	const char *cwd;
};

void hello(const char *boot_id)
{
	struct wire_hello *h = &begin(WIRE_HELLO)->hello;

	h->version = WIRE_VERSION;
	h->ring_epoch = 7;
	h->boot_ns = now;
	h->unix_ns = now + clock_offset_ns;
	h->cpu_count = 2;
	latest_boot = boot_id;
	h->boot_id = bytes(boot_id);
	h->host_id = bytes("0123");
	h->hostname = bytes("host");
	h->kernel = bytes("6.1");
	h->machine = bytes("x86_64");
	h->probe_version = bytes("1");
	apply();
}

void boot(const char *boot_id)
{
	hello(boot_id);
	exec_ids[1] = exec_ids[2] = 0;
	sample(1, 0, "systemd", cpu(0));
	sample(2, 1, "sshd -D", cpu(0));
	scan(now + MS);
	now += 2 * MS;
}

void fork_holding(unsigned parent, unsigned pid, const struct record_fork *memory)
{
	exec_ids[pid] = exec_ids[parent];

	struct record_fork *f = &begin_record(RECORD_FORK, key(pid))->fork;
	struct record_header header = f->header;

	*f = *memory;
	f->header = header;
	f->parent = key(parent);
	f->cgroup_id = CGROUP_BASE;
	f->pgid = pid;
	apply();
}

static void fork_process(unsigned parent, unsigned pid)
{
	fork_holding(parent, pid, &(struct record_fork){0});
}

/* The processes of the samples that follow are in this memory cgroup, which holds so much. */
void memory_cgroup(uint64_t id, uint64_t held_bytes)
{
	struct record_memory *memory = &begin_record(RECORD_MEMORY, (struct image_key){0})->memory;

	memory->cgroup_id = id;
	memory->held_bytes = held_bytes;
	apply();
}

static void cgroup(uint64_t id, const char *cgroup_path)
{
	struct record *r = begin_record(RECORD_CGROUP, (struct image_key){0});

	r->cgroup.cgroup_id = id;
	r->path = bytes(cgroup_path);
	apply();
}

/* `command`: words separated by spaces; ~ is a space within a word. A first word beginning with - is a login shell. */
static void set_command(struct record *r, const char *command)
{
	static char copy[512], program[128];

	snprintf(copy, sizeof(copy), "%s", command);
	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
		for (char *c = word; *c; c++)
			*c = *c == '~' ? ' ' : *c;
		r->argv.item[r->argv.count++] = bytes(word);
	}
	snprintf(program, sizeof(program), "%s%s", *copy == '/' ? "" : "/usr/bin/", r->argv.item[0].data);
	r->path = bytes(*copy == '-' ? "/bin/bash" : program);
}

static void set_where(struct record *r, unsigned pid, struct where where)
{
	struct record_context *context = &r->exec.context;

	*context = where.context;
	if (!context->cgroup_id)
		context->cgroup_id = CGROUP_BASE;
	if (!context->pgid)
		context->pgid = pid;
	r->cwd = bytes(where.cwd ? where.cwd : "/work");
	r->comm = bytes("comm");
}

static void exec_in(unsigned pid, struct where where, const char *command)
{
	exec_ids[pid]++;

	struct record *r = begin_record(RECORD_EXEC, key(pid));

	set_where(r, pid, where);
	cgroup_ids[pid] = r->exec.context.cgroup_id;
	r->exec.counters = cpu(2 * MS);
	set_command(r, command);
	apply();
}

void end_as(enum record_type type, unsigned pid, unsigned status, struct counters counters)
{
	struct record_exit *e = &begin_record(type, key(pid))->exit;

	e->counters = counters;
	e->wait_status = status;
	apply();
}

void end_unknown(unsigned pid, struct counters counters)
{
	struct record_exit *e = &begin_record(RECORD_EXIT, key(pid))->exit;

	e->counters = counters;
	e->flags = RECORD_EXIT_UNKNOWN;
	apply();
}

static void exit_process(unsigned pid, unsigned status)
{
	end_as(RECORD_EXIT, pid, status, cpu(5 * MS));
	end_as(RECORD_FINAL, pid, status, cpu(6 * MS));
}

void send_signal(unsigned pid, unsigned sender, unsigned number, int code)
{
	struct record_signal *s = &begin_record(RECORD_SIGNAL, key(pid))->signal;

	if (sender)
		s->sender = key(sender);
	s->signal = number;
	s->code = code;
	s->flags = RECORD_SIGNAL_GROUP;
	apply();
}

static void sample_in(unsigned pid, unsigned parent, struct where where, const char *command, struct counters counters,
		      unsigned flags)
{
	struct record *r = begin_record(RECORD_SAMPLE, key(pid));

	if (!where.context.cgroup_id)
		where.context.cgroup_id = cgroup_ids[pid];
	set_where(r, pid, where);
	r->exec.context.parent = parent ? key(parent) : (struct image_key){0};
	r->exec.context.flags = flags;
	r->exec.counters = counters;
	if (command)
		set_command(r, command);
	else
		r->cwd = bytes("");
	if (flags & RECORD_ARGV_UNKNOWN)
		r->argv.count = 0;
	apply();
}

void sample_as(unsigned pid, unsigned parent, const char *command, struct counters counters, unsigned flags)
{
	sample_in(pid, parent, (struct where){0}, command, counters, flags);
}

void sample(unsigned pid, unsigned parent, const char *command, struct counters counters)
{
	sample_as(pid, parent, command, counters, 0);
}

void scan_behind(uint64_t boot_ns, uint64_t backlog_bytes)
{
	struct wire_scan *p = &begin(WIRE_SCAN)->scan;

	p->boot_ns = boot_ns;
	p->unix_ns = boot_ns + clock_offset_ns;
	p->backlog_bytes = backlog_bytes;
	apply();
}

void scan(uint64_t boot_ns)
{
	scan_behind(boot_ns, 0);
}

void wait_ms(uint64_t milliseconds)
{
	uint32_t saved[2] = {exec_ids[1], exec_ids[2]};

	now += milliseconds * MS;
	exec_ids[1] = exec_ids[2] = 0;
	sample(1, 0, NULL, cpu(0));
	sample(2, 1, NULL, cpu(0));
	scan(now);
	now += MS;
	memcpy(&exec_ids[1], saved, sizeof(saved));
}

void begin_step(void)
{
	tell("2>10 python3 /usr/bin/snakemake -j2; 10>11 bash -c x; 11>12 bwa mem x; 2>13 nano");
}

void end_step(unsigned status)
{
	exit_process(12, status);
	/* The status as a shell propagates it. */
	exit_process(11, (status & 0x7f ? 128 + (status & 0x7f) : status >> 8) << 8);
}

/* ---- stories */

/* Cuts the first word off `*text` and returns it; `*text` then points to the rest. */
static char *take_word(char **text)
{
	char *word = *text, *end = strchrnul(word, ' ');

	*text = end + (*end == ' ');
	*end = '\0';
	return word;
}

/* Parses the context words before a command. */
static struct where take_where(char **text)
{
	struct where where = {0};
	struct record_context *context = &where.context;
	uint32_t cgroup_id = 0;
	const struct {
		const char *name;
		uint32_t *value;
	} fields[] = {
		{"<", &context->stdin_pipe},
		{">", &context->stdout_pipe},
		{"pgid=", &context->pgid},
		{"tty=", &context->tty},
		{"flags=", &context->flags},
		{"uid=", &context->uid},
		{"cgroup=", &cgroup_id},
		{"pidns=", &context->pid_namespace},
		{"mntns=", &context->mount_namespace},
		{"cores=", &context->core_limit_milli},
	};
	size_t i;

	do {
		for (i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
			size_t length = strlen(fields[i].name);

			if (strncmp(*text, fields[i].name, length) != 0)
				continue;
			*fields[i].value = (uint32_t)strtoul(take_word(text) + length, NULL, 10);
			break;
		}
	} while (i < sizeof(fields) / sizeof(*fields));
	context->cgroup_id = cgroup_id;
	if (strncmp(*text, "cwd=", 4) == 0) /* always the last one */
		where.cwd = take_word(text) + 4;
	return where;
}

/* Handles "ends CODE", "dies SIGNAL" and "gets SIGNAL [from PID]". Returns false for anything else. */
static bool tell_end(unsigned pid, const char *what)
{
	unsigned number = 0, sender = 0;
	int signal = sscanf(what, "gets %u from %u", &number, &sender);

	if (signal > 0)
		send_signal(pid, sender, number, signal == 1 ? SI_KERNEL : 0);
	else if (sscanf(what, "dies %u", &number) == 1)
		exit_process(pid, number);
	else if (strcmp(what, "ends") == 0 || sscanf(what, "ends %u", &number) == 1)
		exit_process(pid, number << 8);
	else
		return false;
	return true;
}

/* Handles a step that begins with a pid. Returns the pid that the step is about. */
static unsigned tell_process(char *step)
{
	unsigned pid = (unsigned)strtoul(step, &step, 10), parent, cpu_ms;
	int size;

	if (sscanf(step, "<%u seen %u%n", &parent, &cpu_ms, &size) == 2) {
		step += size + (step[size] == ' ');
		struct where where = take_where(&step);

		sample_in(pid, parent, where, *step ? step : NULL, cpu(cpu_ms * MS), 0);
		return pid;
	}
	if (*step == '>') {
		parent = pid;
		pid = (unsigned)strtoul(step + 1, &step, 10);
		fork_process(parent, pid);
	}
	step += *step == ' ';
	if (*step && !tell_end(pid, step)) {
		struct where where = take_where(&step);

		exec_in(pid, where, step);
	}
	return pid;
}

/* Handles the other steps. Returns false if the step is unknown. */
static bool tell_other(char *step)
{
	char *argument = step;
	const char *word = take_word(&argument);
	const int64_t number = strtoll(argument, NULL, 10);

	if (strcmp(word, "commit") == 0)
		commit();
	else if (strcmp(word, "restart") == 0)
		restart();
	else if (strcmp(word, "wait") == 0)
		wait_ms((uint64_t)number);
	else if (strcmp(word, "later") == 0)
		now += (uint64_t)number * MS;
	else if (strcmp(word, "scan") == 0)
		scan(now + (uint64_t)number * MS);
	else if (strcmp(word, "cgroup") == 0)
		cgroup((uint64_t)number, strchrnul(argument, '/'));
	else
		return false;
	return true;
}

void tell(const char *format, ...)
{
	char story[2048], *next = story, *step;
	unsigned latest = 0;
	va_list values;

	va_start(values, format);
	ck_assert_int_lt(vsnprintf(story, sizeof(story), format, values), sizeof(story));
	va_end(values);
	while ((step = next)) {
		next = strstr(step, "; ");
		if (next) {
			*next = '\0';
			next += 2;
		}
		if (!*step) /* after a trailing separator */
			continue;
		if (isdigit((unsigned char)*step))
			latest = tell_process(step);
		else if (!tell_end(latest, step))
			ck_assert_msg(tell_other(step), "%s", step);
	}
}

/* ---- the store */

void commit(void)
{
	ck_assert_int_eq(apply_commit(model, &stream), 0);
}

void open_model(void)
{
	struct store_error error;
	const struct model_options options = {
		.rules = rules, .arguments = arguments, .keep_arguments = keep_arguments, .keep_states = true};

	ck_assert_int_eq(store_open_writer(path, &store, &error), 0);
	ck_assert_int_eq(apply_begin(&options, store, &model), 0);
}

void close_model(void)
{
	apply_end(model);
	store_close(store);
}

void change_store(const char *sql)
{
	sqlite3 *database;

	ck_assert_int_eq(sqlite3_open(path, &database), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(database);
}

void keep_arguments_of(const char *programs)
{
	arguments = REDACT_PROGRAM_ONLY;
	keep_arguments = programs;
	restart();
}

void restart(void)
{
	commit();
	close_model();
	open_model();
	hello(latest_boot);
}

/* Loads them once for all tests, which are processes of their own, with rules of a site: executables named
 * "hidden" are not stored. */
static void load_rules(void)
{
	const char *const site[] = {directory, NULL};
	struct tree_error error;

	suite_directory(directory, sizeof(directory));
	suite_file(directory, "site.yaml",
		   "rules:\n- {rule: hide, match: {executable: hidden}, role: ignore}\n"
		   "- {rule: our-cancel, continue: true, match: {executable: jobkill}, cancels_jobs: true}\n"
		   "- {rule: boxctl, match: {executable: boxctl, argv: '^run '}, role: client,\n"
		   "   container: {operands: image, name: --label, options_without_value: --rm}}\n");
	if (rules_load(site, &rules, &error))
		errx(EXIT_FAILURE, "the rules are not loaded");
	suite_directory_remove(directory);
}

static void setup(void)
{
	suite_directory(directory, sizeof(directory));
	snprintf(path, sizeof(path), "%s/store.db", directory);
	memset(exec_ids, 0, sizeof(exec_ids));
	memset(cgroup_ids, 0, sizeof(cgroup_ids));
	memset(loss_counts, 0, sizeof(loss_counts));
	memset(&stream, 0, sizeof(stream));
	now = 1000 * MS; /* old enough that a scan does not take processes for newly started */
	clock_offset_ns = 1000 * MS;
	arguments = REDACT_SECRETS;
	with_restarts = getenv("TRACER_TEST_RESTARTS");
	event_count = 0;
	open_model();
	boot("boot-1");
}

/* The directory is within that of all tests, which is removed at the end. */
static void teardown(void)
{
	close_model();
}

void begin_again(void)
{
	teardown();
	setup();
}

char *rows(const char *sql)
{
	return rows_but(sql, "");
}

char *rows_but(const char *sql, const char *column)
{
	commit();
	return suite_rows(path, sql, column);
}

const char streams_tasks_sql[] =
	"SELECT t.kind || ':', t.name, '[' || (SELECT group_concat(name, ', ') FROM (SELECT name FROM "
	"standing_tools WHERE task_id = t.id ORDER BY begin_boot_ns, name)) || ']', t.status "
	"FROM standing_tasks t JOIN runs r ON r.id = t.run_id WHERE r.kind <> 'system' "
	"ORDER BY r.begin_boot_ns, t.kind <> 'main', t.begin_boot_ns";

int streams_run(const char *name)
{
	log_init(name, LOG_LEVEL_ERROR);
	load_rules();
	int result = suite_run(name, setup, teardown);

	rules_free(rules);
	return result;
}
