/* See truth.h. */
#include "tests/oracle/truth.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static struct truth *truth; /* NULL: there is none */

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* A process that executes another program, or whose pid is used again, finds the earlier files. */
static int file_create(const char *directory)
{
	char path[PATH_MAX];
	int fd = -1;

	for (int number = 0; fd < 0; number++) {
		snprintf(path, sizeof(path), "%s/%d-%d", directory, (int)getpid(), number);
		fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
		if (fd < 0 && errno != EEXIST)
			err(99, "%s", path);
	}
	if (ftruncate(fd, sizeof(*truth)) < 0)
		err(99, "%s", path);
	return fd;
}

void truth_begin(const char *name, enum truth_begin how)
{
	const char *directory = getenv(TRUTH_DIRECTORY);

	if (truth)
		munmap(truth, sizeof(*truth)); /* the parent's */
	truth = NULL;
	if (!directory)
		return;
	int fd = file_create(directory);

	truth = mmap(NULL, sizeof(*truth), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (truth == MAP_FAILED)
		err(99, "mmap");
	close(fd);
	truth->pid = (uint32_t)getpid();
	truth->begin = how;
	truth->begin_boot_ns = clock_ns(CLOCK_BOOTTIME);
	truth->begin_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	snprintf(truth->name, sizeof(truth->name), "%s", name);
}

void truth_add(enum truth_kind kind, uint64_t object, size_t number)
{
	if (!truth)
		return;
	if (truth->event_count == TRUTH_EVENTS_MAX)
		errx(99, "too many events");
	truth->events[truth->event_count] = (struct truth_event){clock_ns(CLOCK_BOOTTIME), object, number, kind};
	truth->event_count++;
}

void truth_add_traffic(size_t sent_bytes, size_t received_bytes)
{
	if (!truth)
		return;
	truth->sent_bytes += sent_bytes;
	truth->received_bytes += received_bytes;
}

/* This reading counts, too. */
static void io_read(void)
{
	char text[512] = "";
	int fd = open("/proc/self/io", O_RDONLY | O_CLOEXEC);
	ssize_t size = read(fd, text, sizeof(text) - 1);
	unsigned long long rchar, wchar, syscr, syscw;

	close(fd);
	if (size < 0 ||
	    sscanf(text, "rchar: %llu wchar: %llu syscr: %llu syscw: %llu", &rchar, &wchar, &syscr, &syscw) != 4)
		err(99, "/proc/self/io");
	truth->rchar_bytes = rchar + (uint64_t)size;
	truth->wchar_bytes = wchar;
	truth->syscr_count = syscr + 1;
	truth->syscw_count = syscw;
}

void truth_end(enum truth_end how, int status)
{
	if (!truth)
		return;
	io_read();
	truth->status = (uint32_t)status;
	truth->end_boot_ns = clock_ns(CLOCK_BOOTTIME);
	truth->end_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	truth->end = how;
}
