/* Hand-written event streams and the store that a model builds from them: shared by the tests of the
 * correlator's modules.
 *
 * Every test starts with init (pid 1) and an ssh daemon (pid 2), found by a scan at 1 s of boot time.
 * Each message is one millisecond later than the previous one. Process n always started at n ms, so
 * that identities are predictable.
 *
 * With TRACER_TEST_RESTARTS in the environment, the correlator is restarted before each event of every
 * test; all assertions must still hold.
 */
#pragma once

#include "correlator/apply/apply.h"
#include "tests/suite.h"

#define MS UINT64_C(1000000)
#define MIB (UINT64_C(1) << 20)
#define CGROUP_BASE 100
#define PID_MAX 20100
#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef" /* a container ID */

extern struct model *model;
extern uint64_t now;
extern uint64_t clock_offset_ns;                 /* wall clock minus boot clock, 1 s */
extern uint32_t exec_ids[PID_MAX];               /* by pid */
extern struct loss_slot loss_counts[LOSS_SLOTS]; /* counts of the kernel side */

/* suite_run() for tests with this setup. */
int streams_run(const char *name);

/* Restarts the test from its initial state, with an empty store. */
void begin_again(void);
void open_model(void);
void close_model(void);
void commit(void);
/* Writes to the store directly; the model must be closed. */
void change_store(const char *sql);
/* Stops and restarts the correlator; the probe sends a new hello. */
void restart(void);
/* Like restart(), and stores arguments of these programs only from then on; NULL: of none. */
void keep_arguments_of(const char *programs);
/* First in a test of state that does not survive a restart, or that restarts by itself: as NAME_restarted, it
 * would only be the same again, and returns. */
#define WITHOUT_RESTARTS() \
	do { \
		if (has_restarts()) \
			return; \
	} while (0)
bool has_restarts(void);

/* ---- messages: begin, fill, apply */
struct wire_message *begin(enum wire_type type);
struct record *begin_record(enum record_type type, struct image_key image);
void apply(void);

struct wire_bytes bytes(const char *text);
struct image_key key(unsigned pid);
struct counters cpu(uint64_t ns);
/* Counters of a process in a cgroup. `limit` 0 means no limit. */
struct counters in_cgroup(uint64_t limit, uint64_t peak, uint64_t throttled_ns);

/* ---- stories, in a short notation */
/* Steps, separated by "; ":
 *   2>10 bash x.sh       2 forks 10, which executes that command (~ is a space within a word)
 *   2>10                 2 forks 10
 *   10 bash x.sh         10 executes that command
 *   10 <71 tty=5 gzip    with its context: pipes on descriptors 0 and 1, cgroup=, pgid=, uid=,
 *                        pidns=, mntns=, and cwd=, which must come last
 *   10 ends 3, ends      10 exits with a code, or the process of the previous step, with 0
 *   10 dies 9            10 is killed by a signal
 *   10 gets 15 from 11   11 sends 10 a signal; without "from", the kernel does
 *   10<2 seen 9 gzip     a scan finds 10, child of 2, with 9 ms of CPU; the command is optional
 *   scan, scan -1        end of a scan that began now, or 1 ms ago
 *   later 20             advances the clock by 20 ms
 *   wait 100             wait_ms()
 *   cgroup 600 /path     announces a cgroup
 *   commit, restart      the functions of that name */
__attribute__((format(printf, 1, 2))) void tell(const char *format, ...);

/* ---- complete messages */
void hello(const char *boot_id);
/* The hello, init, the ssh daemon, and a scan that finds both. */
void boot(const char *boot_id);
/* A fork with the memory that `memory` says. */
void fork_holding(unsigned parent, unsigned pid, const struct record_fork *memory);
/* The processes of the samples that follow are in this memory cgroup, which holds so much. */
void memory_cgroup(uint64_t id, uint64_t held_bytes);
void end_as(enum record_type type, unsigned pid, unsigned status, struct counters counters);
/* Its end, seen without a probe. */
void end_unknown(unsigned pid, struct counters counters);
/* `sender` 0 means the kernel. */
void send_signal(unsigned pid, unsigned sender, unsigned number, int code);
/* `command` NULL means that the sample has no text. */
void sample_as(unsigned pid, unsigned parent, const char *command, struct counters counters, unsigned flags);
void sample(unsigned pid, unsigned parent, const char *command, struct counters counters);
void scan(uint64_t boot_ns);
/* A scan with `backlog_bytes` of older records still in the ring. */
void scan_behind(uint64_t boot_ns, uint64_t backlog_bytes);

/* ---- combinations */
/* Advances the clock, then runs a scan that finds only init and the ssh daemon. */
void wait_ms(uint64_t milliseconds);
/* Begins a pipeline step (snakemake 10, bash 11, bwa 12) beside an unrelated editor (13), and ends the
 * step. */
void begin_step(void);
void end_step(unsigned status);

/* ---- results */
/* Commits, then returns the rows of `sql`, one a line, columns separated by a space, NULL as "-". Valid
 * until the next call. */
char *rows(const char *sql);
#define ck_assert_rows(sql, expected) ck_assert_str_eq(rows(sql), expected)
/* The same, without column `column`. */
char *rows_but(const char *sql, const char *column);
/* Lines "kind: name [tools] status" of the current tasks, except those of the system run. */
#define ck_assert_tasks(expected) ck_assert_rows(streams_tasks_sql, expected)
extern const char streams_tasks_sql[];
