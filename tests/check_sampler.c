/* What samplers report, and what they may not. */
#include "correlator/model/process.h"
#include "correlator/stream/sampler.h"

#include "tests/streams.h"

static struct sampler sampler;
static const char *refusal;

/* Returns whether the correlator takes the message. */
static bool feed(const struct wire_message *message)
{
	struct wire_output output = {0};

	ck_assert_int_eq(wire_encode(&output, message), 0);
	int r = sampler_feed(&sampler, model, output.data + WIRE_FRAME_HEADER_SIZE,
			     output.size - WIRE_FRAME_HEADER_SIZE, now, &refusal);

	wire_output_deinit(&output);
	return r == 0;
}

static bool greet_with(uint64_t version, const char *name, const char *devices)
{
	sampler = (struct sampler){0};
	return feed(&(struct wire_message){
		.type = WIRE_SAMPLER,
		.sampler = {
			.version = version, .name = bytes(name), .driver = bytes("580.1"), .devices = bytes(devices)}});
}

static bool greet(uint64_t version, const char *name)
{
	char device[64];

	snprintf(device, sizeof(device), "%s0", name);
	return greet_with(version, name, device);
}

/* Process n starts at n ms. */
static struct wire_message use_of(unsigned pid, const char *device)
{
	return (struct wire_message){.type = WIRE_DEVICE_USE,
				     .device_use = {.boot_ns = now,
						    .interval_ns = 1000 * MS,
						    .pid = pid,
						    .start_boot_ns = pid * MS / PROCESS_TICK_NS * PROCESS_TICK_NS,
						    .device = bytes(device)}};
}

static void report(unsigned pid, const char *device, uint64_t busy_ms, uint64_t memory_mib, uint64_t energy_uj)
{
	struct wire_message message = use_of(pid, device);

	message.device_use.known = DEVICE_USE_BUSY | DEVICE_USE_MEMORY | (energy_uj ? DEVICE_USE_ENERGY : 0U);
	message.device_use.busy_ns = busy_ms * MS;
	message.device_use.memory_bytes = memory_mib * MIB;
	message.device_use.energy_uj = energy_uj;
	ck_assert(feed(&message));
}

/* Of a device that lowers its clocks, of its processors to 80 % and of its memory to 90 %, and whose memory is in use for as
 * long as it works. */
static void report_throttled(unsigned pid, uint64_t busy_ms, uint64_t throttled_ms)
{
	struct wire_message message = use_of(pid, "nvidia0");

	message.device_use.known = DEVICE_USE_BUSY | DEVICE_USE_THROTTLED | DEVICE_USE_CLOCK | DEVICE_USE_MEMORY_CLOCK |
				   DEVICE_USE_MEMORY_BUSY;
	message.device_use.busy_ns = message.device_use.memory_busy_ns = busy_ms * MS;
	message.device_use.throttled_ns = throttled_ms * MS;
	message.device_use.clock_ns = busy_ms * MS / 10 * 8;
	message.device_use.memory_clock_ns = busy_ms * MS / 10 * 9;
	ck_assert(feed(&message));
}

#define FIGURES "gpu_busy_ns / 1000000, gpu_peak_bytes / 1048576, gpu_energy_uj"

/* A program that has run for so long, and a sampler that was greeted. */
static void begin_training(int ms)
{
	tell("2>10 python3 train.py; later %d", ms);
	ck_assert(greet(SAMPLER_VERSION, "nvidia"));
}

TEST(sums_of_a_process_its_tool_task_and_run)
{
	WITHOUT_RESTARTS();
	tell("2>10 python3 train.py; 10>11 python3 worker.py; later 1000");
	ck_assert(greet(SAMPLER_VERSION, "nvidia"));
	report(10, "nvidia0", 500, 100, 0);
	report(10, "nvidia1", 900, 50, 0);
	report(11, "nvidia0", 250, 70, 0);
	tell("later 1000");
	report(10, "nvidia0", 100, 120, 7000);
	report(11, "nvidia0", 0, 70, 0);
	tell("11 ends; 10 ends");
	ck_assert_rows("SELECT pid, gpu, " FIGURES " FROM processes WHERE pid >= 10 ORDER BY pid",
		       "10 nvidia0,nvidia1 1500 150 7000\n11 nvidia0 250 70 -\n");
	ck_assert_rows("SELECT " FIGURES " FROM tools WHERE gpu_busy_ns IS NOT NULL ORDER BY 1 DESC",
		       "1500 150 7000\n250 70 -\n");
	ck_assert_rows("SELECT " FIGURES " FROM tasks WHERE gpu_busy_ns IS NOT NULL", "1750 150 7000\n");
	ck_assert_rows("SELECT " FIGURES " FROM runs WHERE gpu_busy_ns IS NOT NULL", "1750 150 7000\n");
	/* Unknown is not zero. */
	ck_assert_rows("SELECT count(*) FROM processes WHERE pid < 10 AND (gpu_busy_ns IS NOT NULL OR gpu_peak_bytes "
		       "IS NOT NULL)",
		       "0\n");
}

TEST(a_device_whose_name_the_kernel_side_knows)
{
	WITHOUT_RESTARTS();
	tell("2>10 python3 train.py; later 1000");
	ck_assert(greet(SAMPLER_VERSION, "dri/renderD"));
	report(10, "dri/renderD128", 500, 100, 0);
	tell("10 ends");
	ck_assert_rows("SELECT gpu, " FIGURES " FROM processes WHERE pid = 10", "dri/renderD128 500 100 -\n");
}

TEST(each_program_of_a_process_has_its_own)
{
	WITHOUT_RESTARTS();
	begin_training(1000);
	report(10, "nvidia0", 500, 100, 0);
	tell("10 python3 test.py; later 1000");
	report(10, "nvidia0", 20, 10, 0);
	tell("10 ends");
	ck_assert_rows("SELECT " FIGURES " FROM processes WHERE pid = 10 ORDER BY begin_boot_ns",
		       "500 100 -\n20 10 -\n");
}

TEST(time_with_lowered_clocks)
{
	WITHOUT_RESTARTS();
	tell("2>10 python3 train.py; 10>11 python3 worker.py; later 1000");
	ck_assert(greet(SAMPLER_VERSION, "nvidia"));
	report_throttled(10, 500, 0);
	report(11, "nvidia0", 100, 1, 0);
	tell("later 1000");
	report_throttled(10, 900, 800);
	tell("11 ends; 10 ends");
#define CLOCKS \
	"gpu_throttled_ns / 1000000, gpu_clock_ns / 1000000, gpu_memory_clock_ns / 1000000, gpu_memory_busy_ns / 1000000"
	ck_assert_rows("SELECT pid, " CLOCKS " FROM processes WHERE pid >= 10 ORDER BY pid",
		       "10 800 1120 1260 1400\n11 - - - -\n");
	ck_assert_rows("SELECT gpu_busy_ns / 1000000, " CLOCKS " FROM tasks WHERE gpu_busy_ns IS NOT NULL",
		       "1500 800 1120 1260 1400\n");
}

TEST(devices_of_the_host)
{
	WITHOUT_RESTARTS();
	tell("2>10 python3 train.py; later 1000");
	commit();
	ck_assert_rows("SELECT gpus FROM hosts", "-\n");
	ck_assert(greet_with(SAMPLER_VERSION, "nvidia", "nvidia0,nvidia1,nvidia12"));
	ck_assert(greet_with(SAMPLER_VERSION, "dri/renderD", "dri/renderD128"));
	commit();
	ck_assert_rows("SELECT gpus FROM hosts", "nvidia0,nvidia1,nvidia12,dri/renderD128\n");
	apply_note_end(model);
	restart();
	commit();
	ck_assert_rows("SELECT gpus FROM hosts", "nvidia0,nvidia1,nvidia12,dri/renderD128\n");
	ck_assert(greet_with(SAMPLER_VERSION, "nvidia", "nvidia0")); /* the others are gone */
	commit();
	ck_assert_rows("SELECT gpus FROM hosts", "dri/renderD128,nvidia0\n");
}

TEST(memory_of_the_devices_that_it_held)
{
	WITHOUT_RESTARTS();
	tell("2>10 python3 train.py; later 1000");
	ck_assert(greet(SAMPLER_VERSION, "nvidia"));
	for (unsigned count = 2; count > 0; count--) {
		for (unsigned i = 0; i < count; i++) {
			struct wire_message message = use_of(10, i ? "nvidia1" : "nvidia0");

			message.device_use.known = DEVICE_USE_CAPACITY;
			message.device_use.capacity_bytes = 1 << 20;
			ck_assert(feed(&message));
		}
		tell("later 1000");
	}
	tell("10 ends");
	ck_assert_rows("SELECT gpu_capacity_bytes FROM processes WHERE pid = 10", "2097152\n");
}

static void report_memory(const char *device, uint64_t busy_ms, uint64_t memory_mib, uint64_t capacity_mib)
{
	struct wire_message message = use_of(10, device);

	message.device_use.known = DEVICE_USE_BUSY | DEVICE_USE_MEMORY | DEVICE_USE_CAPACITY;
	message.device_use.busy_ns = busy_ms * MS;
	message.device_use.memory_bytes = memory_mib * MIB;
	message.device_use.capacity_bytes = capacity_mib * MIB;
	ck_assert(feed(&message));
}

/* Rounds of two samplers are at different times, and one may arrive late. */
TEST(devices_of_two_samplers)
{
	struct sampler nvidia, dri;

	WITHOUT_RESTARTS();
	begin_training(2000);
	nvidia = sampler;
	ck_assert(greet(SAMPLER_VERSION, "dri/renderD"));
	dri = sampler;
	for (unsigned i = 0; i < 3; i++) {
		uint64_t early = now;

		tell("later 100");
		sampler = nvidia;
		report_memory("nvidia0", 500, 100, 1000);
		report_memory("nvidia1", 500, 50, 1000);
		sampler = dri;
		now = early;
		report_memory("dri/renderD128", 10, 30 + i, 200);
		now += 100 * MS;
		tell("later 900; 10<2 seen 1; scan");
	}
	tell("later 9000");
	report_memory("dri/renderD128", 10, 35, 200); /* the other one is silent */
	tell("10<2 seen 1; scan; 10 ends");
	ck_assert_rows("SELECT gpu, " FIGURES ", gpu_capacity_bytes / 1048576 FROM processes WHERE pid = 10",
		       "nvidia0,nvidia1,dri/renderD128 3040 182 - 2200\n");
	ck_assert_rows(
		"SELECT gpu_busy_ns / 1000000, gpu_memory_bytes / 1048576 FROM samples WHERE gpu_busy_ns IS NOT NULL "
		"ORDER BY boot_ns",
		"1010 180\n2020 181\n3030 182\n3040 35\n");
}

TEST(samples_of_a_process_that_only_waits_for_its_device)
{
	WITHOUT_RESTARTS();
	begin_training(2000);
	report(10, "nvidia0", 500, 100, 0);
	tell("10<2 seen 1; scan; later 1000");
	report(10, "nvidia0", 600, 100, 0);
	tell("10<2 seen 1; scan; later 6000; 10<2 seen 1; scan; later 1000"); /* nothing is reported: it was freed */
	report(10, "nvidia0", 1, 300, 0);
	tell("10<2 seen 1; scan; 10 ends");
	ck_assert_rows(
		"SELECT gpu_busy_ns / 1000000, gpu_memory_bytes / 1048576 FROM samples WHERE gpu_busy_ns IS NOT NULL "
		"ORDER BY boot_ns",
		"500 100\n1100 100\n1100 -\n1101 300\n");
}

TEST(a_restart_keeps_what_was_reported)
{
	WITHOUT_RESTARTS();
	begin_training(1000);
	report(10, "nvidia0", 500, 100, 0);
	apply_note_end(model);
	restart();
	tell("later 1000");
	report(10, "nvidia0", 100, 50, 0);
	tell("10 ends");
	ck_assert_rows("SELECT " FIGURES " FROM processes WHERE pid = 10", "600 100 -\n");
}

TEST(reports_that_match_no_process)
{
	WITHOUT_RESTARTS();
	begin_training(1000);
	struct wire_message message = use_of(10, "nvidia0");

	message.device_use.known = DEVICE_USE_BUSY;
	message.device_use.busy_ns = MS;
	message.device_use.start_boot_ns += PROCESS_TICK_NS; /* another process with its pid */
	ck_assert(feed(&message));
	report(77, "nvidia0", 500, 100, 0);
	/* Older than the last one. */
	report(10, "nvidia0", 500, 100, 0);
	message = use_of(10, "nvidia0");
	message.device_use.boot_ns -= MS;
	message.device_use.known = DEVICE_USE_BUSY;
	message.device_use.busy_ns = 100 * MS;
	ck_assert(feed(&message));
	/* More than all devices of a host can do in its life. */
	for (int i = 0; i < 500; i++)
		report(10, "nvidia0", 1000, 100, 100000000000); /* 100 kW */
	tell("10 ends");
	ck_assert_rows("SELECT gpu_busy_ns < 70000000000, gpu_energy_uj < 7000000000000 FROM processes WHERE pid = 10",
		       "1 1\n");
	ck_assert_rows("SELECT count(*) FROM processes WHERE gpu_busy_ns IS NOT NULL", "1\n");
}

static struct wire_message error_of(unsigned pid, unsigned code, unsigned holder_count)
{
	return (struct wire_message){.type = WIRE_DEVICE_ERROR,
				     .device_error = {.boot_ns = now,
						      .pid = pid,
						      .start_boot_ns = pid * MS / PROCESS_TICK_NS * PROCESS_TICK_NS,
						      .code = code,
						      .holder_count = holder_count,
						      .device = bytes("nvidia0")}};
}

static void report_error(unsigned pid, unsigned code, unsigned holder_count)
{
	struct wire_message message = error_of(pid, code, holder_count);

	ck_assert(feed(&message));
}

#define INCIDENTS "SELECT kind, fatal, sentence, cause FROM incidents ORDER BY boot_ns"

/* One row: its own until the process fails, then the failure's. */
TEST(an_error_after_which_a_process_fails)
{
	WITHOUT_RESTARTS();
	tell("2>5 bash x.sh; 5>10 python3 train.py; later 1000");
	ck_assert(greet(SAMPLER_VERSION, "nvidia"));
	report_error(10, 31, 1);
	report_error(10, 43, 1); /* a consequence of the first */
	commit();
	ck_assert_rows(INCIDENTS, "gpu-error 0 train.py (pid 10) held a GPU with an error: nvidia0 reported Xid 31 "
				  "(GPU memory page fault) -\n");
	tell("later 500; 10 ends 1; 5 ends 1");
	ck_assert_rows(INCIDENTS, "gpu-error 1 run x.sh failed: train.py (pid 10) exited with code 1 after 1.50 s "
				  "nvidia0 reported Xid 31 (GPU memory page fault) 501 ms before\n");
}

TEST(an_error_of_a_device_that_several_hold)
{
	WITHOUT_RESTARTS();
	tell("2>10 python3 train.py; 10>11 python3 worker.py; later 1000");
	ck_assert(greet(SAMPLER_VERSION, "nvidia"));
	report_error(10, 700, 2);
	report_error(11, 700, 2);
	report_error(77, 700, 2);
	tell("later 61000; 11 ends 1; 10 ends"); /* too late to be a consequence */
	ck_assert_rows(INCIDENTS, "gpu-error 0 train.py (pid 10) held a GPU with an error: nvidia0 reported Xid 700, "
				  "which 2 processes held -\n"
				  "gpu-error 0 worker.py (pid 11) held a GPU with an error: nvidia0 reported Xid 700, "
				  "which 2 processes held -\n");
}

/* Each process once a minute, of a task no more than of crashes. */
TEST(errors_are_bounded)
{
	WITHOUT_RESTARTS();
	begin_training(1000);
	for (int minute = 0; minute < 30; minute++) {
		for (unsigned code = 1; code < 900; code++)
			report_error(10, code, 1);
		tell("later 60000");
	}
	ck_assert_rows("SELECT count(*), max(sentence LIKE '%Xid 1') FROM incidents", "1 1\n");
}

static void refuse(struct wire_message message, const char *reason)
{
	ck_assert(greet(SAMPLER_VERSION, "nvidia"));
	ck_assert(!feed(&message));
	ck_assert_str_eq(refusal, reason);
}

#define REFUSE(field, value, reason) \
	do { \
		struct wire_message message = use_of(10, "nvidia0"); \
\
		message.device_use.known = 255; \
		message.device_use.field = (value); \
		refuse(message, reason); \
	} while (0)

TEST(figures_that_cannot_be)
{
	tell("2>10 python3 train.py; later 100000");
	REFUSE(device, bytes("amd0"), "a device that is not of its kind");
	REFUSE(device, bytes("nvidia"), "a device that is not of its kind");
	REFUSE(device, bytes("nvidia0,x"), "a device that is not of its kind");
	REFUSE(device, bytes("nvidia12345"), "a device that is not of its kind");
	REFUSE(boot_ns, now + 1, "an interval that does not end now");
	REFUSE(boot_ns, now - 61000 * MS, "an interval that does not end now");
	REFUSE(interval_ns, 61000 * MS, "an interval that is too long");
	REFUSE(busy_ns, 1001 * MS, "a device that is busy for longer than the interval");
	REFUSE(memory_busy_ns, 1001 * MS, "a device that is busy for longer than the interval");
	REFUSE(clock_ns, 1, "a clock above its highest");
	REFUSE(memory_clock_ns, 1, "a clock above its highest");
	REFUSE(throttled_ns, 1, "a device that is throttled for longer than it is busy");
	REFUSE(memory_bytes, UINT64_MAX, "more memory than a device has");
	REFUSE(capacity_bytes, UINT64_MAX, "more memory than a device has");
	REFUSE(energy_uj, UINT64_MAX, "more power than a device draws");
	refuse(error_of(10, 0, 1), "an error that no driver reports");
	refuse(error_of(10, 1000, 1), "an error that no driver reports");
	refuse(error_of(10, 31, 0), "an error that no driver reports");
	refuse(error_of(10, 31, 4097), "an error that no driver reports");
	struct wire_message early = error_of(10, 31, 1);

	early.device_error.boot_ns = now + 1;
	refuse(early, "an error that was not reported now");
	early.device_error.device = bytes("amd0");
	refuse(early, "a device that is not of its kind");
	refuse((struct wire_message){.type = WIRE_SCAN}, "a message that no sampler sends");
	refuse((struct wire_message){.type = WIRE_SAMPLER}, "a second sampler message");
	sampler = (struct sampler){0};
	ck_assert(!feed(&(struct wire_message){.type = WIRE_DEVICE_USE}));
	ck_assert_str_eq(refusal, "figures before its name");
	ck_assert(!greet(SAMPLER_VERSION + 1, "nvidia"));
	ck_assert(!greet(SAMPLER_VERSION, ""));
	ck_assert(!greet(SAMPLER_VERSION, "../etc"));
	ck_assert(!greet(SAMPLER_VERSION, "/dev/dri"));
	ck_assert(!greet(SAMPLER_VERSION, "dri/render\n"));
	ck_assert(!greet(SAMPLER_VERSION, "averyverylongname"));
	ck_assert(!greet_with(SAMPLER_VERSION, "nvidia", ""));
	ck_assert(!greet_with(SAMPLER_VERSION, "nvidia", "nvidia0,"));
	ck_assert(!greet_with(SAMPLER_VERSION, "nvidia", "nvidia0,amd1"));
	ck_assert_str_eq(refusal, "a device that is not of its kind");
}

TEST(a_flood)
{
	begin_training(1000);
	struct wire_message message = use_of(10, "nvidia0");

	for (int i = 1; i < SAMPLER_MESSAGES_MAX; i++)
		ck_assert(feed(&message));
	ck_assert(!feed(&message));
	ck_assert_str_eq(refusal, "too many messages a second");
	now += 1000 * MS;
	ck_assert(feed(&message));
}

int main(void)
{
	return streams_run("sampler");
}
