/* The ground truth. See truth.h. */
#include "tests/exact/truth.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* A zombie is visible some microseconds before it leaves its processor for the last time. */
#define LAST_INSTANTS_US 2000
#define LINE_MAX_BYTES 1024

struct io {
	uint64_t rchar, wchar, syscr, syscw, read_bytes, write_bytes, cancelled_write_bytes;
};

/* Uses one write, so that lines of different processes do not mix. */
__attribute__((format(printf, 1, 2))) static void line_write(const char *format, ...)
{
	const char *path = getenv(TRUTH_FILE);
	char line[LINE_MAX_BYTES];
	va_list arguments;

	if (!path)
		errx(1, "%s is not set", TRUTH_FILE);
	va_start(arguments, format);
	int size = vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, line, (size_t)size) != size)
		err(1, "%s", path);
	close(fd);
}

/* Reads a small file of /proc completely. */
static void proc_read(const char *path, char *text, size_t capacity)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t size = fd < 0 ? -1 : read(fd, text, capacity - 1);

	if (size < 0)
		err(1, "%s", path);
	text[size] = '\0';
	close(fd);
}

static void io_read(pid_t pid, struct io *io)
{
	char path[64], text[512];

	snprintf(path, sizeof(path), "/proc/%d/io", pid);
	proc_read(path, text, sizeof(text));
	if (sscanf(text,
		   "rchar: %" SCNu64 " wchar: %" SCNu64 " syscr: %" SCNu64 " syscw: %" SCNu64 " read_bytes: %" SCNu64
		   " write_bytes: %" SCNu64 " cancelled_write_bytes: %" SCNu64,
		   &io->rchar, &io->wchar, &io->syscr, &io->syscw, &io->read_bytes, &io->write_bytes,
		   &io->cancelled_write_bytes) != 7)
		errx(1, "%s has another form", path);
}

static uint64_t microseconds(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * 1000000u + (uint64_t)time->tv_usec;
}

static void zombie_reap(pid_t pid)
{
	struct rusage usage;
	struct io io;
	int status;

	io_read(pid, &io);
	if (wait4(pid, &status, 0, &usage) != pid)
		err(1, "wait4 of %d", pid);
	line_write("{\"reaped\": %d, \"reaper\": %d, \"wait_status\": %d, \"cpu_us\": %" PRIu64
		   ", \"user_us\": %" PRIu64 ", \"maxrss_kib\": %ld, \"minor_faults\": %ld, \"major_faults\": %ld, "
		   "\"voluntary_switches\": %ld, \"involuntary_switches\": %ld, "
		   "\"rchar_bytes\": %" PRIu64 ", \"wchar_bytes\": %" PRIu64 ", \"syscr_count\": %" PRIu64
		   ", \"syscw_count\": %" PRIu64 ", \"read_bytes\": %" PRIu64 ", \"write_bytes\": %" PRIu64
		   ", \"cancelled_write_bytes\": %" PRIu64 "}\n",
		   pid, getpid(), status, microseconds(&usage.ru_utime) + microseconds(&usage.ru_stime),
		   microseconds(&usage.ru_utime), usage.ru_maxrss, usage.ru_minflt, usage.ru_majflt, usage.ru_nvcsw,
		   usage.ru_nivcsw, io.rchar, io.wchar, io.syscr, io.syscw, io.read_bytes, io.write_bytes,
		   io.cancelled_write_bytes);
}

/* Waits until a child has ended and leaves it a zombie. Returns its pid, or -1 if there is no child. */
static pid_t zombie_await(pid_t pid)
{
	siginfo_t info = {0};

	while (waitid(pid < 0 ? P_ALL : P_PID, pid < 0 ? 0 : (id_t)pid, &info, WEXITED | WNOWAIT) < 0) {
		if (errno == ECHILD)
			return -1;
		if (errno != EINTR)
			err(1, "waitid");
	}
	return info.si_pid;
}

pid_t truth_reap(pid_t pid)
{
	pid_t found = zombie_await(pid);

	if (found < 0)
		return -1;
	usleep(LAST_INSTANTS_US);
	zombie_reap(found);
	return found;
}

void truth_reap_all(const pid_t *pids, int count)
{
	for (int i = 0; i < count; i++)
		zombie_await(pids[i]);
	usleep(LAST_INSTANTS_US);
	for (int i = 0; i < count; i++)
		zombie_reap(pids[i]);
}

void truth_reap_everything(void)
{
	while (truth_reap(-1) > 0)
		;
}

void truth_note_peak(void)
{
	char text[8192];
	const char *peak;

	/* Of this thread: a thread group leader that has exited has no memory. */
	proc_read("/proc/thread-self/status", text, sizeof(text));
	peak = strstr(text, "VmHWM:");
	line_write("{\"peak_of\": %d, \"peak_kib\": %ld}\n", getpid(), peak ? atol(peak + 6) : 0);
}

void truth_note_ran(pid_t pid, int wait_status)
{
	line_write("{\"ran\": %d, \"reaper\": %d, \"wait_status\": %d}\n", pid, getpid(), wait_status);
}

void truth_note_act(const char *act, pid_t pid)
{
	line_write("{\"act\": \"%s\", \"pid\": %d}\n", act, pid);
}
