/* The programs that belong to tracer: finding them, running them beside us. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#define PROGRAM_PROBE "tracer-probe"
#define PROGRAM_CORRELATOR "tracer-correlator"
#define PROGRAM_SHIPPER "tracer-shipper"

/* Beside our own binary (installed, or in the build tree), else in PATH.
 * 0; -ENOENT, said on standard error. */
int program_find(const char *name, char ret_path[PATH_MAX]);

#define PROGRAM_READY_FD 3

/* Runs `argv` in a session of its own, away from the terminal's signals: standard
 * input empty, output and errors appended to `log_fd`, `ready_fd` (-1: none) as
 * descriptor PROGRAM_READY_FD, no others. Returns its pid or -errno. */
pid_t program_spawn(char *const argv[], int log_fd, int ready_fd);

/* The same with a pipe that it tells through that it is ready; `ret_ready_fd`, to close, is its end. */
pid_t program_launch(char *const argv[], int log_fd, int *ret_ready_fd);

/* Runs `argv` with its standard output in `*ret_text`, to free, at most `most`
 * bytes; errors go where ours go. Its wait status, or -errno. */
int program_read(char *const argv[], size_t most, char **ret_text);

/* The last line that a program wrote into a log, safe to show, "" if there is none. */
void program_last_words(int log_fd, char *text, size_t capacity);

/* The first line of a small file, of the kernel's say; "" where there is none. Returns `text`. */
const char *program_read_line(const char *path, char text[256]);
