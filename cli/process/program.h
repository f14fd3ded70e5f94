/* Finds and runs the other programs of tracer. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#define PROGRAM_PROBE "tracer-probe"
#define PROGRAM_CORRELATOR "tracer-correlator"
#define PROGRAM_SHIPPER "tracer-shipper"
#define PROGRAM_SAMPLER "tracer-sampler-nvidia"

/* Looks beside our own binary (installed, or in the build tree), then in PATH.
 * Returns 0, or -ENOENT after printing an error. */
int program_find(const char *name, char ret_path[PATH_MAX]);
/* The same without an error message. */
int program_look_up(const char *name, char ret_path[PATH_MAX]);

#define PROGRAM_READY_FD 3

/* Runs `argv` in a new session, out of reach of the terminal's signals: with empty
 * standard input, output and errors appended to `log_fd`, `ready_fd` (-1: none) as
 * PROGRAM_READY_FD, and no other descriptors. Returns its pid or -errno. */
pid_t program_spawn(char *const argv[], int log_fd, int ready_fd);

/* The same as another user, without other groups; only root can. */
pid_t program_spawn_as(char *const argv[], int log_fd, uid_t uid, gid_t gid);

/* The same as program_spawn() with a pipe on which the program signals readiness; the caller closes `*ret_ready_fd`. */
pid_t program_launch(char *const argv[], int log_fd, int *ret_ready_fd);

/* Runs `argv` without standard output; the rest is ours. Returns its wait status, or -errno. */
int program_run(char *const argv[]);

/* The last line that a program wrote to a log, safe to print, or "". */
void program_log_tail(int log_fd, char *text, size_t capacity);

/* Reads the first line of a small file, for example in /proc; "" on failure. Returns `text`. */
const char *program_read_line(const char *path, char text[256]);
