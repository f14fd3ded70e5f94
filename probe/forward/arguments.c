/* See arguments.h. */
#include "probe/forward/arguments.h"

#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>

#define READ_TIMEOUT_NS 50000000ULL /* usually it takes 20000, but longer if a page is swapped out */
#define STAT_START_FIELD 22         /* starttime in /proc/PID/stat, in clock ticks since boot */

struct request {
	struct image_key image;
	uint64_t number;
};

/* Number 0: the reader was killed during a request. */
struct answer {
	uint64_t number;
	char argv[RECORD_ARGV_MAX + 1]; /* the extra byte shows whether there are more */
};

/* ---- the reader */

static size_t file_read(int directory, const char *name, char *data, size_t capacity)
{
	int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
	size_t size = 0;
	ssize_t more;

	while (fd >= 0 && size < capacity && (more = read(fd, data + size, capacity - size)) > 0)
		size += (size_t)more;
	if (fd >= 0)
		close(fd);
	return size;
}

/* Returns false if the pid has been reused, or belongs to another pid namespace. */
static bool start_is(int directory, uint64_t start_boot_ns)
{
	char text[1024];
	size_t size = file_read(directory, "stat", text, sizeof(text) - 1);

	text[size] = '\0';
	const char *at = strrchr(text, ')'); /* the end of field 2, which may hold anything */
	for (int field = 2; at && field < STAT_START_FIELD; field++)
		at = strchr(at + 1, ' ');
	uint64_t tick_ns = 1000000000 / (uint64_t)sysconf(_SC_CLK_TCK);
	return at && strtoull(at, NULL, 10) == start_boot_ns / tick_ns;
}

static size_t process_read(const struct image_key *image, char *argv, size_t capacity)
{
	char path[32];
	size_t size = 0;

	snprintf(path, sizeof(path), "/proc/%u", image->pid);
	int directory = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (directory < 0)
		return 0;
	if (start_is(directory, image->start_boot_ns))
		size = file_read(directory, "cmdline", argv, capacity);
	close(directory);
	return size;
}

static void timer_set(uint64_t in_ns)
{
	const struct itimerval timer = {.it_value.tv_usec = (suseconds_t)(in_ns / 1000)};

	setitimer(ITIMER_REAL, &timer, NULL);
}

static void requests_answer(int fd)
{
	struct request request;
	struct answer answer;

	while (recv(fd, &request, sizeof(request), 0) == sizeof(request)) {
		timer_set(READ_TIMEOUT_NS);
		size_t size = process_read(&request.image, answer.argv, sizeof(answer.argv));
		timer_set(0);
		answer.number = request.number;
		if (send(fd, &answer, offsetof(struct answer, argv) + size, MSG_NOSIGNAL) < 0)
			return;
	}
}

void arguments_serve(int fd)
{
	const uint64_t killed = 0;
	int status;

	for (;;) {
		pid_t pid = fork();

		if (pid == 0) {
			requests_answer(fd);
			_exit(0);
		}
		if (pid < 0 || waitpid(pid, &status, 0) < 0 || !WIFSIGNALED(status) ||
		    send(fd, &killed, sizeof(killed), MSG_NOSIGNAL) < 0)
			return;
	}
}

/* ---- the probe */

/* Returns false if there is no answer in time. Skips late answers to earlier requests. */
static bool answer_take(int fd, uint64_t number, struct answer *answer, size_t *ret_size)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	const struct timespec timeout = {.tv_nsec = ARGUMENTS_WAIT_MS * 1000000L};

	while (ppoll(&ready, 1, &timeout, NULL) > 0) {
		ssize_t size = recv(fd, answer, sizeof(*answer), MSG_DONTWAIT);

		if (size < (ssize_t)sizeof(answer->number) || answer->number == 0)
			return false;
		*ret_size = (size_t)size - offsetof(struct answer, argv);
		if (answer->number == number)
			return true;
	}
	return false;
}

size_t arguments_read(int fd, const struct image_key *image, char *argv, uint32_t *ret_flags)
{
	static uint64_t number;
	static struct answer answer;
	const struct request request = {.image = *image, .number = number + 1};
	size_t size;

	number++;
	*ret_flags = 0;
	while (recv(fd, &answer, sizeof(answer), MSG_DONTWAIT) > 0)
		;
	if (send(fd, &request, sizeof(request), MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ||
	    !answer_take(fd, number, &answer, &size) || size == 0)
		return 0;
	/* If a page could not be read, the text ends in the middle of an argument. */
	if (size > RECORD_ARGV_MAX || answer.argv[size - 1] != '\0')
		*ret_flags = RECORD_ARGV_TRUNCATED;
	size = size > RECORD_ARGV_MAX ? RECORD_ARGV_MAX : size;
	memcpy(argv, answer.argv, size);
	return size;
}
