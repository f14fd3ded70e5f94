/* Reads /proc. See proc.h. */
#include "cli/run/proc.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/grow.h"

#define READ_MAX 8192

/* Reads at most READ_MAX - 1 bytes of a file of the process, and terminates them. Returns their number or -errno. */
static ssize_t read_file(pid_t pid, const char *name, char text[READ_MAX])
{
	char path[64];
	ssize_t size = 0, count;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	do {
		count = read(fd, text + size, READ_MAX - 1 - (size_t)size);
		size += count > 0 ? count : 0;
	} while (count > 0 && size < READ_MAX - 1);
	if (count < 0 && size == 0)
		size = -errno;
	close(fd);
	text[size > 0 ? size : 0] = '\0';
	return size;
}

/* ---- figures ---- */

#define STAT_FIELDS 52 /* proc_pid_stat(5) */

static uint64_t ticks_ns(uint64_t ticks)
{
	return ticks * (1000000000ULL / (uint64_t)sysconf(_SC_CLK_TCK));
}

int proc_read_stat(pid_t pid, struct proc_stat *ret)
{
	uint64_t field[STAT_FIELDS + 1] = {0};
	char text[READ_MAX], *at;
	ssize_t size = read_file(pid, "stat", text);
	const char *name = size > 0 ? strchr(text, '(') : NULL;

	at = name ? strrchr(text, ')') : NULL; /* a name may contain anything */
	if (!at || at[1] == '\0')
		return size < 0 ? (int)size : -ESRCH;
	*ret = (struct proc_stat){.state = at[2]};
	snprintf(ret->comm, sizeof(ret->comm), "%.*s", (int)(at - name - 1), name + 1);
	at += 3;
	for (int i = 4; i <= STAT_FIELDS; i++)
		field[i] = strtoull(at, &at, 10);
	ret->ppid = (pid_t)field[4];
	ret->pgid = (uint32_t)field[5];
	ret->tty = (uint32_t)field[7];
	ret->minor_faults = field[10];
	ret->reaped_faults = field[11];
	ret->major_faults = field[12];
	ret->user_ns = ticks_ns(field[14]);
	ret->system_ns = ticks_ns(field[15]);
	ret->reaped_ns = ticks_ns(field[16] + field[17]);
	ret->thread_count = (uint32_t)field[20];
	ret->start_boot_ns = ticks_ns(field[22]);
	ret->rss_bytes = field[24] * (uint64_t)sysconf(_SC_PAGESIZE);
	ret->stack = field[28];
	ret->wait_status = (int)field[52];
	return 0;
}

/* Finds "NAME:" at the beginning of a line, and reads the number after it. */
static bool find_number(const char *text, const char *name, uint64_t *ret)
{
	size_t size = strlen(name);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, size) == 0 && line[size] == ':') {
			*ret = strtoull(line + size + 1, NULL, 10);
			return true;
		}
	}
	return false;
}

int proc_open_io(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/io", pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

void proc_read_io(int io_fd, struct proc_io *ret)
{
	char text[READ_MAX];
	ssize_t size = io_fd < 0 ? -1 : pread(io_fd, text, sizeof(text) - 1, 0);

	if (size <= 0)
		return;
	text[size] = '\0';
	ret->is_known = true;
#define X(name, word) find_number(text, word, &ret->name);
	PROC_IO(X)
#undef X
}

static void set(struct counters *counters, uint64_t bit, uint64_t *field, uint64_t value)
{
	*field = value;
	counters->valid |= bit;
}
#define SET(counters, name, value) set(counters, COUNTER_VALID(name), &(counters)->name, value)

static void take_memory(const char *text, struct counters *counters)
{
	uint64_t kib;

#define TAKE(name, word) \
	if (find_number(text, word, &kib)) \
	SET(counters, name, kib * 1024)
	if (find_number(text, "VmHWM", &kib) && kib * 1024 > counters->peak_rss_bytes)
		SET(counters, peak_rss_bytes, kib * 1024);
	TAKE(rss_anon_bytes, "RssAnon");
	TAKE(rss_file_bytes, "RssFile");
	TAKE(rss_shmem_bytes, "RssShmem");
	TAKE(swap_bytes, "VmSwap");
#undef TAKE
}

/* The status shows the switches of the main thread, schedstat its CPU time and the time that it waited for a processor. */
static void take_thread(pid_t pid, const char *text, struct counters *counters)
{
	uint64_t cpu_ns, delay_ns, count;
	char line[READ_MAX];

	if (find_number(text, "voluntary_ctxt_switches", &count))
		SET(counters, voluntary_switches, count);
	if (find_number(text, "nonvoluntary_ctxt_switches", &count))
		SET(counters, involuntary_switches, count);
	if (read_file(pid, "schedstat", line) <= 0 || sscanf(line, "%" SCNu64 " %" SCNu64, &cpu_ns, &delay_ns) != 2)
		return;
	if (cpu_ns > counters->cpu_ns)
		SET(counters, cpu_ns, cpu_ns);
	SET(counters, run_delay_ns, delay_ns);
}

void proc_read_details(pid_t pid, const struct proc_stat *stat, struct counters *counters)
{
	char text[READ_MAX];

	if (read_file(pid, "status", text) <= 0)
		return;
	take_memory(text, counters);
	if (stat->thread_count <= 1)
		take_thread(pid, text, counters);
}

/* ---- programs ---- */

/* Returns the size of what a link of the process names, 0 if it is not shown to us. */
static size_t read_link(pid_t pid, const char *name, char path[PATH_MAX])
{
	static const char deleted[] = " (deleted)";
	size_t mark = sizeof(deleted) - 1;
	char link[64];
	ssize_t size;

	snprintf(link, sizeof(link), "/proc/%d/%s", pid, name);
	size = readlink(link, path, PATH_MAX - 1);
	if (size < 0)
		size = 0;
	if ((size_t)size > mark && memcmp(path + size - mark, deleted, mark) == 0)
		size -= (ssize_t)mark;
	path[size] = '\0';
	return (size_t)size;
}

/* Writes the components of a path from the leaf to the root, as records have them. Returns their size; what does not
 * fit is the beginning of the path. */
static size_t put_components(const char *path, char *to, size_t capacity, bool *ret_is_cut)
{
	const char *end = path + strlen(path);
	size_t used = 0;

	*ret_is_cut = false;
	while (path[0] == '/' && end > path) {
		const char *slash = memrchr(path, '/', (size_t)(end - path));
		size_t size = (size_t)(end - slash - 1);

		if (used + size + 1 > capacity) {
			*ret_is_cut = true;
			break;
		}
		memcpy(to + used, slash + 1, size);
		used += size;
		to[used++] = '\0';
		end = slash;
	}
	return used;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_called(const char *path, const char *comm)
{
	return path && *path && strncmp(base_name(path), comm, RECORD_COMM_SIZE - 1) == 0;
}

/* The kernel names a process after the file given to execve: a script, or a link such as sh. The link of the program
 * (`exe`) has the interpreter, or what it points to. So the first of these that is called so was executed. */
static const char *choose_filename(const char *comm, const char *exe, const char *const arguments[2], uint32_t *flags)
{
	if (is_called(exe, comm))
		return exe;
	if (is_called(arguments[1], comm)) {
		*flags |= RECORD_SCRIPT;
		return arguments[1];
	}
	if (is_called(arguments[0], comm))
		return arguments[0];
	return *exe ? exe : comm;
}

static uint32_t read_pipe(pid_t pid, const char *name, bool *ret_is_terminal)
{
	char path[PATH_MAX];
	unsigned inode = 0;

	if (read_link(pid, name, path) == 0)
		return 0;
	*ret_is_terminal = strncmp(path, "/dev/pts/", 9) == 0 || strncmp(path, "/dev/tty", 8) == 0;
	return sscanf(path, "pipe:[%u]", &inode) == 1 ? inode : 0;
}

static void read_context(pid_t pid, const struct proc_stat *stat, struct record_context *context)
{
	bool is_terminal = true;
	char path[64];
	struct stat owner;

	snprintf(path, sizeof(path), "/proc/%d", pid);
	if (stat->stack && lstat(path, &owner) == 0) { /* else the files of the process are root's */
		context->uid = owner.st_uid;
		context->gid = owner.st_gid;
	}
	context->pgid = stat->pgid;
	context->tty = stat->tty;
	context->stdin_pipe = read_pipe(pid, "fd/0", &is_terminal);
	if (!is_terminal)
		context->flags |= RECORD_STDIN_ELSEWHERE;
	context->stdout_pipe = read_pipe(pid, "fd/1", &is_terminal);
}

/* Returns the size of the arguments, which end with a NUL. */
static size_t take_arguments(ssize_t size, char *text, uint32_t *flags)
{
	if (size <= 0) {
		*flags |= RECORD_ARGV_UNKNOWN;
		return 0;
	}
	if (size > RECORD_ARGV_MAX) {
		*flags |= RECORD_ARGV_TRUNCATED;
		size = RECORD_ARGV_MAX;
	}
	text[size] = '\0';
	if (text[size - 1] == '\0')
		return (size_t)size;
	if (size == RECORD_ARGV_MAX) {
		text[size - 1] = '\0';
		return (size_t)size;
	}
	return (size_t)size + 1;
}

void proc_read_program(pid_t pid, const struct proc_stat *stat, enum record_type type, struct proc_program *ret)
{
	struct record_exec *record = &ret->record;
	char exe[PATH_MAX], cwd[PATH_MAX], arguments[READ_MAX], *text = ret->text;
	uint32_t *flags = &record->context.flags;
	const char *argv[2] = {NULL, NULL}, *filename;
	size_t size;
	bool is_cut;

	*record = (struct record_exec){
		.header.type = type, .context.uid = record->context.uid, .context.gid = record->context.gid};
	memcpy(record->comm, stat->comm, sizeof(record->comm));
	read_context(pid, stat, &record->context);
	read_link(pid, "exe", exe);
	read_link(pid, "cwd", cwd);
	size = take_arguments(read_file(pid, "cmdline", arguments), arguments, flags);
	if (size > 0)
		argv[0] = arguments;
	if (size > 0 && strlen(arguments) + 1 < size)
		argv[1] = arguments + strlen(arguments) + 1;
	if (type == RECORD_EXEC) {
		filename = choose_filename(stat->comm, exe, argv, flags);
		record->filename_size = (uint16_t)(strnlen(filename, RECORD_FILENAME_MAX - 1) + 1);
		if (strlen(filename) >= RECORD_FILENAME_MAX)
			*flags |= RECORD_PATH_TRUNCATED;
		memcpy(text, filename, record->filename_size - 1u);
		text[record->filename_size - 1] = '\0';
	} else {
		record->filename_size = (uint16_t)put_components(exe, text, RECORD_FILENAME_MAX, &is_cut);
		*flags |= is_cut ? RECORD_PATH_TRUNCATED : 0;
	}
	text += record->filename_size;
	record->cwd_size = (uint16_t)put_components(cwd, text, RECORD_CWD_MAX, &is_cut);
	*flags |= is_cut ? RECORD_CWD_TRUNCATED : 0;
	memcpy(text + record->cwd_size, arguments, size);
	record->argv_size = (uint32_t)size;
	record->header.size = (uint32_t)(sizeof(*record) + record->filename_size + record->cwd_size + size);
}

/* ---- children ---- */

static int list_add(struct proc_list *list, pid_t pid)
{
	pid_t *items = grow(list->items, &list->capacity, list->count + 1, sizeof(*items));

	if (!items)
		return -ENOMEM;
	list->items = items;
	list->items[list->count++] = pid;
	return 0;
}

static int add_children_of_thread(pid_t pid, const char *thread, struct proc_list *list)
{
	char name[64], text[READ_MAX], *at = text, *end;
	ssize_t size;

	snprintf(name, sizeof(name), "task/%.16s/children", thread);
	size = read_file(pid, name, text);
	if (size <= 0)
		return (int)size;
	if (size == READ_MAX - 1) /* the last one may be cut; the next scan finds it when others have ended */
		*(strrchr(text, ' ') + 1) = '\0';
	for (;; at = end) {
		long child = strtol(at, &end, 10);

		if (end == at)
			return 0;
		if (list_add(list, (pid_t)child) < 0)
			return -ENOMEM;
	}
}

int proc_add_children(pid_t pid, uint32_t thread_count, struct proc_list *list)
{
	char path[64];
	struct dirent *entry;
	DIR *threads;
	int r = 0;

	snprintf(path, sizeof(path), "%d", pid);
	if (thread_count <= 1)
		return add_children_of_thread(pid, path, list);
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	threads = opendir(path);
	while (threads && r != -ENOMEM && (entry = readdir(threads)))
		if (isdigit((unsigned char)entry->d_name[0]))
			r = add_children_of_thread(pid, entry->d_name, list);
	if (threads)
		closedir(threads);
	return r == -ENOMEM ? r : 0;
}

bool proc_has_children(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	return access(path, R_OK) == 0;
}

void proc_add_all(struct proc_list *list)
{
	DIR *processes = opendir("/proc");
	struct dirent *entry;

	while (processes && (entry = readdir(processes)))
		if (isdigit((unsigned char)entry->d_name[0]))
			list_add(list, atoi(entry->d_name));
	if (processes)
		closedir(processes);
}

/* ---- ends ---- */

/* struct pidfd_info of Linux 6.13, with the exit status of 6.15 (include/uapi/linux/pidfd.h). */
struct info {
	uint64_t mask;
	uint64_t cgroup_id;
	uint32_t ids[11];
	int32_t exit_code;
};

#define GET_INFO _IOWR(0xFF, 11, struct info)
#define INFO_EXIT (UINT64_C(1) << 3)

int proc_open(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

bool proc_read_status(int pid_fd, int *ret_status)
{
	struct info info = {.mask = INFO_EXIT};

	if (pid_fd < 0 || ioctl(pid_fd, GET_INFO, &info) < 0 || !(info.mask & INFO_EXIT))
		return false;
	*ret_status = info.exit_code;
	return true;
}
