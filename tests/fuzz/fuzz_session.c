/* Fuzz target: bytes as the history of a machine, reported by a probe, into a real store.
 *
 * Each byte selects an event (see `happen`), the following ones its subjects and details;
 * every event becomes a frame and passes through all stages: session, model, commits, restarts
 * from states. The history is one that a kernel could produce, with lost records, except
 * where raw bytes replace a message.
 *
 * Nothing may crash or leak, and the store must be consistent: every process belongs to a
 * current tool, task and run; counts and sums of the parts equal those of the whole.
 */
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

#include "common/log.h"
#include "correlator/stream/session.h"
#include "tests/fuzz/fuzz.h"
#include "tests/record_encode.h"

#define MS UINT64_C(1000000)
#define SLOT_COUNT 24
#define CGROUP_COUNT 6
#define EVENTS_MAX 400 /* of one input: longer histories find nothing new */

struct slot {
	struct image_key image, parent;
	bool running, is_reported;
};

struct input {
	const uint8_t *next, *end;
};

static char directory[64], path[80];
static struct rules *rules;
static struct store *store;
static sqlite3 *database; /* a reader's connection to the store */
static struct model *model;
static struct session session;
static struct wire_message message;
static struct record record;
static struct slot slots[SLOT_COUNT];
static uint64_t now_boot_ns, offset, boot;
static uint32_t next_pid;
static bool hostile; /* raw bytes were accepted as a message */

static unsigned take(struct input *input)
{
	return input->next < input->end ? *input->next++ : 0;
}

static struct wire_bytes bytes(const char *text)
{
	return (struct wire_bytes){.data = text, .size = (uint32_t)strlen(text)};
}

/* ---- messages */

/* Loads the state in the store, like a correlator that starts. */
static void start_session(void)
{
	const struct model_options options = {.rules = rules, .keep_states = true};

	require(apply_begin(&options, store, &model) == 0);
	require(session_init(&session, model, store) == 0);
}

static void feed(const void *data, size_t size);

static void send_message(void)
{
	static struct wire_output output;

	output.size = 0;
	require(wire_encode(&output, &message) == 0);
	feed(output.data + WIRE_FRAME_HEADER_SIZE, output.size - WIRE_FRAME_HEADER_SIZE);
}

static void begin(enum wire_type type)
{
	memset(&message, 0, sizeof(message));
	message.type = type;
	now_boot_ns += MS;
	offset += 8;
}

static struct record *begin_record(enum record_type type, struct image_key image)
{
	now_boot_ns += MS;
	offset += 8;
	memset(&record, 0, sizeof(record));
	record.header = (struct record_header){.type = type, .boot_ns = now_boot_ns, .image = image};
	return &record;
}

static void send_record(void)
{
	static _Alignas(8) char data[RECORD_SIZE_MAX + 8];
	uint32_t size;

	memset(&message, 0, sizeof(message));
	memset(data, 0, sizeof(data));
	size = (uint32_t)record_encode(&record, data);
	if (record.header.type == RECORD_SAMPLE) {
		message.type = WIRE_SAMPLE;
		message.sample.records = (struct wire_bytes){data, (size + 7) & ~7U};
	} else {
		message.type = WIRE_EVENT;
		message.event.offset = offset;
		message.event.record = (struct wire_bytes){data, size};
	}
	send_message();
}

static void greet(void)
{
	static char boot_id[40];
	struct wire_hello *hello = &message.hello;

	session_reset(&session);
	begin(WIRE_HELLO);
	snprintf(boot_id, sizeof(boot_id), "boot-%llu", (unsigned long long)boot);
	hello->version = WIRE_VERSION;
	hello->record_version = RECORD_VERSION;
	hello->ring_epoch = 1 + boot;
	hello->boot_ns = now_boot_ns;
	hello->unix_ns = now_boot_ns + 1000000 * MS;
	hello->boot_id = bytes(boot_id);
	hello->host_id = bytes("host");
	send_message();
}

/* Opens a new connection after a protocol error. */
static void feed(const void *data, size_t size)
{
	const char *reason = NULL;
	int r = session_feed(&session, data, size, &reason);

	if (r == 0)
		return;
	require(r == -EPROTO && reason && message.type != WIRE_HELLO);
	greet();
}

/* ---- the machine */

static struct slot *choose(struct input *input)
{
	return &slots[take(input) % SLOT_COUNT];
}

static struct slot *choose_running(struct input *input)
{
	struct slot *slot = choose(input);

	return slot->running ? slot : &slots[1];
}

static void set_command(unsigned choice)
{
	static const char *const commands[][4] = {
		{"/usr/bin/bash", "bash", "job.sh"},
		{"/usr/bin/bash", "bash", "-c", "x; y"},
		{"/usr/bin/snakemake", "snakemake", "-j2"},
		{"/usr/bin/make", "make", "all"},
		{"/usr/bin/bwa", "bwa", "mem"},
		{"/usr/bin/samtools", "samtools", "sort"},
		{"/usr/bin/mkdir", "mkdir", "out"},
		{"/usr/bin/env", "env", "bwa", "index"},
		{"/usr/bin/tracer", "tracer", "run", "--"},
		{"/bin/bash", "-bash"},
		{"/usr/sbin/sshd", "sshd", "-D"},
		{"/usr/sbin/slurmstepd", "slurmstepd"},
		{"/usr/bin/docker", "docker", "run", "x"},
		{"/usr/bin/python3", "python3", "x.py"},
		{"/usr/bin/xargs", "xargs", "gzip"},
		{"", ""},
	};
	const char *const *command = commands[choice % (sizeof(commands) / sizeof(*commands))];

	record.comm = bytes("comm");
	record.cwd = bytes("/work");
	record.path = bytes(command[0]);
	for (unsigned i = 1; i < 4 && command[i]; i++)
		record.argv.item[record.argv.count++] = bytes(command[i]);
}

static struct counters counters_now(const struct slot *slot)
{
	return (struct counters){
		.valid = COUNTER_VALID(cpu_ns) | COUNTER_VALID(read_bytes) | COUNTER_VALID(rss_anon_bytes) |
			 COUNTER_VALID(peak_rss_bytes) | COUNTER_VALID(minor_faults),
		.cpu_ns = (now_boot_ns - slot->image.start_boot_ns) / 2,
		.read_bytes = now_boot_ns - slot->image.start_boot_ns,
		.rss_anon_bytes = 4096 * (slot->image.pid % 7),
		.peak_rss_bytes = 4096 * (slot->image.pid % 9),
		.minor_faults = 3,
	};
}

static void fork_process(struct input *input, bool is_reported)
{
	struct slot *parent = choose_running(input), *child = &slots[2 + take(input) % (SLOT_COUNT - 2)];

	*child = (struct slot){
		.image = {.pid = next_pid++, .exec_id = parent->image.exec_id, .start_boot_ns = now_boot_ns + MS},
		.parent = parent->image,
		.running = true,
		.is_reported = is_reported,
	};
	struct record_fork *fork = &begin_record(RECORD_FORK, child->image)->fork;

	fork->parent = child->parent;
	fork->cgroup_id = 1 + take(input) % CGROUP_COUNT;
	fork->pgid = child->image.pid;
	fork->anon_kib = next_pid << (next_pid % 32);
	fork->parent_shared_kib = next_pid << (next_pid % 25);
	fork->parent_faults = next_pid;
	fork->flags = next_pid % 2 ? RECORD_FORK_FAULTS : 0;
	if (is_reported)
		send_record();
}

static void execute(struct input *input)
{
	struct slot *slot = choose_running(input);

	slot->image.exec_id++;

	struct record_exec *exec = &begin_record(RECORD_EXEC, slot->image)->exec;

	exec->counters = counters_now(slot);
	set_command(take(input));
	exec->context.parent = slot->parent;
	exec->context.cgroup_id = 1 + take(input) % CGROUP_COUNT;
	unsigned bits = take(input);

	exec->context.stdin_pipe = bits & 3;
	exec->context.stdout_pipe = bits >> 2 & 3;
	exec->context.tty = bits >> 4 & 1;
	exec->context.pgid = bits & 32 ? 7 : slot->image.pid;
	exec->context.flags = bits & 64 ? RECORD_SCRIPT : bits & 128 ? RECORD_ARGV_UNKNOWN : 0;
	send_record();
}

static void end(struct input *input, enum record_type type)
{
	struct slot *slot = choose(input);
	unsigned status = take(input);

	if (slot - slots < 2 || !slot->image.pid || slot->running != (type == RECORD_EXIT))
		return;
	struct record_exit *exit = &begin_record(type, slot->image)->exit;

	exit->counters = counters_now(slot);
	exit->wait_status = status & 1 ? (status & 0x7e) << 7 : status & 0x0e;
	exit->flags = status >> 7;
	slot->running = false;
	send_record();
	if (type == RECORD_FINAL)
		*slot = (struct slot){0};
}

static void sample_slot(const struct slot *slot, bool with_text, unsigned choice)
{
	struct record_exec *sample = &begin_record(RECORD_SAMPLE, slot->image)->exec;

	sample->context.parent = slot->parent;
	sample->context.cgroup_id = 1;
	sample->context.pgid = slot->image.pid;
	sample->counters = counters_now(slot);
	sample->counters.valid |= COUNTER_VALID(uninterruptible_count);
	sample->counters.uninterruptible_count = slot->image.pid % 3 == 0;
	sample->context.flags = slot->running ? 0 : RECORD_EXITING;
	if (with_text)
		set_command(choice);
	send_record();
}

/* What a sampler of GPUs says of some of them. */
static void use_gpu(const struct image_key *image, unsigned i)
{
	if (i % 3 == 0)
		apply_device_use(session.model, image->pid, image->start_boot_ns, "nvidia0",
				 &(struct device_report){.boot_ns = now_boot_ns,
							 .gpu_busy_ns = (int64_t)MS,
							 .memory_bytes = (int64_t)(i << 20),
							 .gpu_energy_uj = i % 2 ? 1000 : ROW_NULL,
							 .gpu_throttled_ns = i % 2 ? (int64_t)MS : ROW_NULL,
							 .gpu_clock_ns = ROW_NULL,
							 .gpu_memory_clock_ns = ROW_NULL,
							 .gpu_memory_busy_ns = i % 2 ? (int64_t)MS : ROW_NULL,
							 .capacity_bytes = (int64_t)1 << 34});
	if (i % 7 == 0)
		apply_device_error(
			session.model, image->pid, image->start_boot_ns,
			&(struct device_error){
				.boot_ns = now_boot_ns, .code = 31, .holder_count = i + 1, .device = "nvidia0"});
}

/* Scans all slots. If `gone` is not 0, slots whose number is a multiple of `gone` + 1 have ended
 * without a record. */
static void sample_all(bool with_text, unsigned gone)
{
	uint64_t began_boot_ns = now_boot_ns;

	for (unsigned i = 0; i < SLOT_COUNT; i++) {
		if (gone && i > 1 && i % (gone + 1) == 0)
			slots[i] = (struct slot){0};
		if (!slots[i].image.pid)
			continue;
		use_gpu(&slots[i].image, i);
		begin_record(RECORD_MEMORY, (struct image_key){0});
		record.memory.cgroup_id = i % 3;
		record.memory.held_bytes = (uint64_t)i << (i * 3 % 64);
		record.memory.huge_bytes = i % 5 ? 0 : (uint64_t)i << (i * 5 % 64);
		send_record();
		sample_slot(&slots[i], with_text, i);
	}
	begin(WIRE_SCAN);
	message.scan.boot_ns = began_boot_ns;
	message.scan.unix_ns = began_boot_ns + 1000000 * MS;
	message.scan.with_text = with_text;
	send_message();
}

static void tell_cgroup(struct input *input)
{
	static const char *const paths[] = {
		"/",
		"/system.slice/cron.service",
		"/user.slice/session-1.scope",
		"/slurm/uid_0/job_9/step_0",
		"/docker/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
		"/slurm/uid_0/job_9/step_1",
	};

	begin_record(RECORD_CGROUP, (struct image_key){0});
	record.cgroup.cgroup_id = 1 + take(input) % CGROUP_COUNT;
	record.path = bytes(paths[take(input) % CGROUP_COUNT]);
	send_record();
}

/* One slot grows, becomes another loss, or gets an arbitrary count; every message carries all slots. */
static void tell_losses(struct input *input)
{
	static struct loss_slot losses[LOSS_SLOTS];
	struct loss_slot *slot = &losses[take(input) % LOSS_SLOTS];
	unsigned how = take(input);

	begin(WIRE_LOSSES);
	if (how % 4 == 0)
		*slot = (struct loss_slot){.first_boot_ns = now_boot_ns};
	slot->type = how / 4 % 8;
	slot->cgroup_id = how / 32;
	slot->count = how % 4 == 1 ? -(uint64_t)take(input) : slot->count + take(input);
	slot->last_boot_ns = how % 4 == 2 ? 0 : now_boot_ns;
	message.losses.slots = (struct wire_bytes){(const char *)losses, sizeof(losses)};
	if (how % 16 == 15)
		message.losses.slots.size -= take(input);
	send_message();
}

static void be_ignored(struct input *input)
{
	struct slot *slot = choose(input);

	if (slot - slots < 2 || !slot->running)
		return;
	slot->image.exec_id++;
	begin_record(RECORD_IGNORED, slot->image);
	send_record();
	*slot = (struct slot){0};
}

static void be_sent_a_signal(struct input *input)
{
	struct slot *target = choose(input), *sender = choose(input);
	unsigned number = take(input);

	if (!target->image.pid)
		return;
	begin_record(RECORD_SIGNAL, target->image);
	record.signal.sender = sender->image; /* without a sender: from the kernel */
	record.signal.signal = number & 0x1f;
	record.signal.code = number & 0x80 ? 128 : 0;
	send_record();
}

static void hold_a_device(struct input *input)
{
	struct slot *slot = choose(input);
	unsigned number = take(input);

	begin_record(RECORD_DEVICE, slot->image);
	record.device.major = number & 1 ? 195 : 226;
	record.device.minor = number;
	send_record();
}

static void read_a_file(struct input *input)
{
	begin_record(RECORD_FILE, choose(input)->image);
	record.file.position_bytes = (uint64_t)take(input) << 40;
	record.file.size_bytes = (uint64_t)take(input) << 56;
	send_record();
}

static void be_rare(struct input *input)
{
	switch (take(input) % 5) {
	case 0: be_ignored(input); break;
	case 1: tell_losses(input); break;
	case 2: be_sent_a_signal(input); break;
	case 3: hold_a_device(input); break;
	case 4: read_a_file(input); break;
	}
}

static void boot_machine(void)
{
	memset(slots, 0, sizeof(slots));
	boot++;
	now_boot_ns = 1000 * MS;
	offset = 0;
	slots[0] = (struct slot){.image = {.pid = 1, .start_boot_ns = MS}, .running = true};
	slots[1] =
		(struct slot){.image = {.pid = 2, .start_boot_ns = 2 * MS}, .parent = slots[0].image, .running = true};
	next_pid = 10;
	greet();
	sample_slot(&slots[0], true, 10);
	sample_slot(&slots[1], true, 10);
	begin(WIRE_SCAN);
	message.scan.boot_ns = now_boot_ns;
	send_message();
}

static void commit(void)
{
	require(session_commit(&session, 1) == 0);
}

/* Arbitrary bytes as a message. If they are accepted, the history is no longer a kernel's. */
static void raw(struct input *input)
{
	size_t size = take(input);

	if (size > (size_t)(input->end - input->next))
		size = (size_t)(input->end - input->next);
	const char *reason;

	if (session_feed(&session, input->next, size, &reason) == 0)
		hostile = true;
	else
		greet();
	input->next += size;
}

/* Changes one byte of an entity's saved state. */
static void break_state(struct input *input)
{
	char sql[256];
	unsigned which = take(input), at = take(input), value = take(input);

	snprintf(sql, sizeof(sql),
		 "UPDATE states SET state = CAST(substr(state, 1, %u) || x'%02x' || substr(state, %u) AS BLOB) "
		 "WHERE id = (SELECT id FROM states ORDER BY id LIMIT 1 OFFSET %u) AND length(state) > %u",
		 at, value, at + 2, which, at);
	require(sqlite3_exec(database, sql, NULL, NULL, NULL) == SQLITE_OK);
	hostile = true;
}

static void interrupt(struct input *input)
{
	unsigned what = take(input) % 6;

	switch (what) {
	case 0: commit(); break;
	case 1: /* restart of the correlator */
	case 5: /* restart with a damaged state */
		commit();
		apply_end(model);
		if (what == 5)
			break_state(input);
		start_session();
		greet();
		sample_all(true, 0);
		break;
	case 2: /* restart of the probe */
		greet();
		sample_all(true, 0);
		break;
	case 3: boot_machine(); break;
	case 4: raw(input); break;
	}
}

static void happen(struct input *input)
{
	switch (take(input) % 16) {
	case 0:
	case 1:
	case 2: fork_process(input, true); break;
	case 3: fork_process(input, false); break;
	case 4:
	case 5:
	case 6: execute(input); break;
	case 7:
	case 8: end(input, RECORD_EXIT); break;
	case 9: end(input, RECORD_FINAL); break;
	case 10: sample_all(take(input) & 1, 0); break;
	case 11: sample_all(false, take(input) % 4); break;
	case 12: tell_cgroup(input); break;
	case 13: be_rare(input); break;
	case 14: now_boot_ns += take(input) * 100 * MS; break;
	case 15: interrupt(input); break;
	}
}

/* ---- the store */

/* Each query counts violations. */
static const char *const always[] = {
	"SELECT count(*) FROM processes p LEFT JOIN standing_tools l ON l.id = p.tool_id "
	"LEFT JOIN standing_tasks t ON t.id = p.task_id LEFT JOIN standing_runs r ON r.id = p.run_id "
	"WHERE l.id IS NULL OR t.id IS NULL OR r.id IS NULL",
	"SELECT count(*) FROM tools l JOIN tasks t ON t.id = l.task_id WHERE l.run_id <> t.run_id",
	"SELECT count(*) FROM tasks t LEFT JOIN tasks p ON p.id = t.parent_task_id "
	"WHERE t.parent_task_id IS NOT NULL AND (p.id IS NULL OR p.run_id <> t.run_id)",
	/* A clock that was set is of the host; of the system's run only if there is one. */
	"SELECT count(*) FROM incidents i LEFT JOIN standing_runs r ON r.id = i.run_id WHERE r.id IS NULL "
	"AND i.kind <> 'clock'",
	"SELECT count(*) FROM incidents WHERE end_boot_ns < boot_ns",
};

static const char *const of_a_kernel[] = {
	"SELECT count(*) FROM tools l WHERE process_count <> (SELECT count(*) FROM processes p WHERE "
	"p.tool_id = l.id)",
	"SELECT count(*) FROM tools l WHERE living_count <> (SELECT count(*) FROM processes p WHERE "
	"p.tool_id = l.id AND ended IS NULL)",
	"SELECT count(*) FROM tools l WHERE cpu_ns <> (SELECT ifnull(sum(cpu_ns), 0) FROM processes p "
	"WHERE p.tool_id = l.id)",
	"SELECT count(*) FROM runs r WHERE ifnull(uninterruptible_ns, 0) <> (SELECT "
	"ifnull(sum(uninterruptible_ns), 0) FROM processes p WHERE p.run_id = r.id)",
	"SELECT count(*) FROM runs r WHERE (ifnull(gpu_busy_ns, 0), ifnull(gpu_energy_uj, 0), "
	"ifnull(gpu_throttled_ns, 0)) <> (SELECT ifnull(sum(gpu_busy_ns), 0), ifnull(sum(gpu_energy_uj), 0), "
	"ifnull(sum(gpu_throttled_ns), 0) FROM processes p WHERE p.run_id = r.id)",
	"SELECT count(*) FROM tools l WHERE ifnull(gpu_busy_ns, 0) <> (SELECT ifnull(sum(gpu_busy_ns), 0) "
	"FROM processes p WHERE p.tool_id = l.id)",
	"SELECT count(*) FROM tasks t WHERE (process_count, living_count, failed_count, cpu_ns, "
	"read_bytes) <> (SELECT ifnull(sum(process_count), 0), ifnull(sum(living_count), 0), "
	"ifnull(sum(failed_count), 0), ifnull(sum(cpu_ns), 0), ifnull(sum(read_bytes), 0) FROM tools l "
	"WHERE l.task_id = t.id)",
	"SELECT count(*) FROM runs r WHERE (process_count, living_count, failed_count, cpu_ns, "
	"read_bytes) <> (SELECT ifnull(sum(process_count), 0), ifnull(sum(living_count), 0), "
	"ifnull(sum(failed_count), 0), ifnull(sum(cpu_ns), 0), ifnull(sum(read_bytes), 0) FROM tasks t "
	"WHERE t.run_id = r.id AND merged_into_id IS NULL)",
};

static void check_none(const char *sql)
{
	sqlite3_stmt *statement;

	require(sqlite3_prepare_v2(database, sql, -1, &statement, NULL) == SQLITE_OK);
	require(sqlite3_step(statement) == SQLITE_ROW);
	if (sqlite3_column_int64(statement, 0) != 0) {
		fprintf(stderr, "not 0: %s\n", sql);
		abort();
	}
	sqlite3_finalize(statement);
}

static void check_store(void)
{
	for (size_t i = 0; i < sizeof(always) / sizeof(*always); i++)
		check_none(always[i]);
	for (size_t i = 0; !hostile && i < sizeof(of_a_kernel) / sizeof(*of_a_kernel); i++)
		check_none(of_a_kernel[i]);
}

/* ---- once per process, once per input */

static void empty_store(void)
{
	require(sqlite3_exec(database,
			     "BEGIN; DELETE FROM hosts; DELETE FROM containers; DELETE FROM runs;"
			     "DELETE FROM tasks; DELETE FROM tools;" /* images are identified by their ids */
			     "DELETE FROM process_rows; DELETE FROM samples; DELETE FROM incidents;"
			     "DELETE FROM losses; DELETE FROM cgroups; DELETE FROM stream;"
			     "DELETE FROM states; COMMIT",
			     NULL, NULL, NULL) == SQLITE_OK);
}

static void remove_store(void)
{
	static const char *const suffixes[] = {"", "-wal", "-shm", ".lock"};
	char name[96];

	sqlite3_close(database);
	store_close(store);
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		snprintf(name, sizeof(name), "%s%s", path, suffixes[i]);
		unlink(name);
	}
	rmdir(directory);
	rules_free(rules);
}

static void set_up(void)
{
	static const char *const none[] = {NULL};
	struct tree_error rules_error;
	struct store_error error;

	log_init("fuzz_session", LOG_LEVEL_ERROR);
	snprintf(directory, sizeof(directory), "%s/fuzz-session-XXXXXX",
		 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	require(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/store.db", directory);
	require(rules_load(none, &rules, &rules_error) == 0);
	require(store_open_writer(path, &store, &error) == 0);
	require(sqlite3_open(path, &database) == SQLITE_OK);
	atexit(remove_store);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {.next = data, .end = data + size};

	if (!rules)
		set_up();
	empty_store();
	hostile = false;
	boot = 0;
	start_session();
	boot_machine();
	for (unsigned i = 0; i < EVENTS_MAX && input.next < input.end; i++)
		happen(&input);
	commit();
	check_store();
	apply_end(model);
	return 0;
}
