/* Streams made by hand, and the store that a model makes of them: what the tests of the
 * correlator's modules share.
 *
 * Every test begins with init (pid 1) and an ssh daemon (pid 2) that a pass found, at 1 s of the
 * boot clock; every message is a millisecond later than the one before. pid n always began at
 * n ms: an identity that a reader can follow.
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
extern enum redact_mode arguments; /* of the next open_model */
extern uint64_t now;
extern uint64_t clock_offset_ns; /* of the wall clock to the boot clock, 1 s */
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

/* ---- messages: begun, filled, applied */
struct wire_message *begin(enum wire_type type);
struct event *begin_event(enum event_type type);
void apply(void);

struct wire_bytes bytes(const char *text);
struct image_key key(unsigned pid);
struct counters cpu(uint64_t ns);
/* Those of a process in a cgroup; `limit` 0: none. */
struct counters in_cgroup(uint64_t limit, uint64_t peak, uint64_t throttled_ns);

struct where {
	uint32_t stdin_pipe, stdout_pipe, pgid, tty, uid;
	uint32_t pid_namespace, mount_namespace; /* 0: not known */
	uint64_t cgroup_id;
	const char *cwd;
};

/* ---- messages, whole */
void hello(const char *boot_id);
void cgroup(uint64_t id, const char *cgroup_path);
void fork_process(unsigned parent, unsigned pid);
/* `command`: words, in which ~ is a blank; a first word that begins with - is a login shell. */
void exec_in(unsigned pid, struct where where, const char *command);
void exec_process(unsigned pid, const char *command);
void end_as(enum event_type type, unsigned pid, unsigned status, struct counters counters);
/* `sender` 0: the kernel. */
void send_signal(unsigned pid, unsigned sender, unsigned number, int code);
/* `command` NULL: a look without text. */
void sample_as(unsigned pid, unsigned parent, const char *command, struct counters counters,
	       unsigned flags);
void sample(unsigned pid, unsigned parent, const char *command, struct counters counters);
void pass(uint64_t boot_ns);
/* So much is in the ring that is older. */
void pass_behind(uint64_t boot_ns, uint64_t backlog_bytes);

/* ---- several */
void spawn_in(unsigned parent, unsigned pid, struct where where, const char *command);
void spawn(unsigned parent, unsigned pid, const char *command);
void exit_process(unsigned pid, unsigned status);
void run_process(unsigned parent, unsigned pid, const char *command);
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
/* Without that column. */
char *rows_but(const char *sql, const char *column);
/* Lines "kind: name [tools] status" of the tasks that stand, the system's left out. */
#define ck_assert_tasks(expected) ck_assert_str_eq(rows(streams_tasks_sql), expected)
extern const char streams_tasks_sql[];
