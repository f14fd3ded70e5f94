/* Streams made by hand, and the store that a model makes of them: what the tests of the
 * correlator's modules share.
 *
 * Every test begins with init (pid 1) and an ssh daemon (pid 2) that a pass found, at 1 s of the
 * boot clock; every message is a millisecond later than the one before. pid n always began at
 * n ms: an identity that a reader can follow.
 *
 * With TRACER_TEST_RESTARTS in the environment another correlator goes on before each event of every
 * test, and whatever a test asserts has to hold all the same.
 */
#pragma once

#include "correlator/apply/apply.h"
#include "tests/suite.h"

#define MS UINT64_C(1000000)
#define MIB (UINT64_C(1) << 20)
#define CGROUP_BASE 100
#define PID_MAX 20100
#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef" /* a container's id */

extern struct model *model;
extern uint64_t now;
extern uint64_t clock_offset_ns;   /* of the wall clock to the boot clock, 1 s */
extern uint32_t exec_ids[PID_MAX]; /* of each pid */

/* suite_run() of tests that begin so. */
int streams_run(const char *name);

/* As a test begins, with an empty store. */
void begin_anew(void);
void open_model(void);
void close_model(void);
void commit(void);
/* Writes to the store behind the model's back, which is closed. */
void change_store(const char *sql);
/* The correlator is stopped and started again, the probe says hello. */
void restart(void);
/* The same, and from now on it keeps no arguments. */
void keep_no_arguments(void);
/* For a test of what is not remembered. */
void without_restarts(void);

/* ---- messages: begun, filled, applied */
struct wire_message *begin(enum wire_type type);
struct event *begin_event(enum event_type type);
void apply(void);

struct wire_bytes bytes(const char *text);
struct image_key key(unsigned pid);
struct counters cpu(uint64_t ns);
/* Those of a process in a cgroup; `limit` 0: none. */
struct counters in_cgroup(uint64_t limit, uint64_t peak, uint64_t throttled_ns);

/* ---- stories */
/* Steps, each behind "; ":
 *   2>10 bash x.sh       2 forks 10, which executes that (in a word, ~ is a blank)
 *   2>10                 2 forks 10
 *   10 bash x.sh         10 executes that
 *   10 <71 tty=5 gzip    where it does: pipes on descriptors 0 and 1, cgroup=, pgid=, uid=,
 *                        pidns=, mntns=, and cwd= as the last of them
 *   10 ends 3, ends      10 exits with a code, or the process of the step before, with 0
 *   10 dies 9            a signal ends it
 *   10 gets 15 from 11   somebody sends it a signal; gets 15: the kernel does
 *   10<2 seen 9 gzip     a pass finds 10, child of 2, with so many ms of CPU; or without text
 *   pass, pass -1        the end of that pass, which began now, or 1 ms before
 *   later 20             the clock goes on by so many ms
 *   wait 100             wait_ms()
 *   cgroup 600 /path     such a cgroup is told of
 *   commit, restart      as the functions */
__attribute__((format(printf, 1, 2))) void tell(const char *format, ...);

/* ---- messages, whole */
void hello(const char *boot_id);
/* The hello, init, the ssh daemon, and a pass over them. */
void boot(const char *boot_id);
void end_as(enum event_type type, unsigned pid, unsigned status, struct counters counters);
/* `sender` 0: the kernel. */
void send_signal(unsigned pid, unsigned sender, unsigned number, int code);
/* `command` NULL: a look without text. */
void sample_as(unsigned pid, unsigned parent, const char *command, struct counters counters, unsigned flags);
void sample(unsigned pid, unsigned parent, const char *command, struct counters counters);
void pass(uint64_t boot_ns);
/* So much is in the ring that is older. */
void pass_behind(uint64_t boot_ns, uint64_t backlog_bytes);

/* ---- several */
/* Time passes, with nothing but init and the ssh daemon to be seen alive. */
void wait_ms(uint64_t milliseconds);
/* A pipeline step (snakemake 10, bash 11, bwa 12) that runs, and somebody's editor (13) beside
 * it; and how the step ends. */
void begin_step(void);
void end_step(unsigned status);

/* ---- what came of it */
/* Rows of `sql`, once committed, as lines, columns joined by a space, NULL as -. Until the
 * next call. */
char *rows(const char *sql);
#define ck_assert_rows(sql, expected) ck_assert_str_eq(rows(sql), expected)
/* Without that column. */
char *rows_but(const char *sql, const char *column);
/* Lines "kind: name [tools] status" of the tasks that stand, the system's left out. */
#define ck_assert_tasks(expected) ck_assert_rows(streams_tasks_sql, expected)
extern const char streams_tasks_sql[];
