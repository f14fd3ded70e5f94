/* A process whose arguments cannot be read completely: one page is mapped from a FUSE file
 * whose server never answers a read. Any user can do this with /dev/fuse or fusermount.
 *
 *   fuse_arguments DIRECTORY     mounts a file system there, starts the victim as nobody, and
 *                                prints its pid once it waits; ends when its standard input
 *                                closes, with the file system: readers then get an error
 */
#include <err.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>

#include <linux/fuse.h>

#define NOBODY 65534
#define FILE_INODE 2
#define FILE_BYTES (1 << 20)
#define REQUEST_BYTES (1 << 17)
#define PADDING_BYTES (12 * 1024) /* so that the arguments contain whole pages */

/* ---- the victim */

static void victim(const char *file, const char *padding)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t first = ((uintptr_t)padding + page - 1) & ~(page - 1);
	int fd = open(file, O_RDONLY);

	if (fd < 0)
		err(1, "%s", file);
	if (mmap((void *)first, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED)
		err(1, "mmap");
	if (printf("%d\n", getpid()) < 0 || fflush(stdout))
		err(1, "standard output");
	for (;;)
		pause();
}

static pid_t victim_start(const char *self, const char *file)
{
	static char padding[PADDING_BYTES + 1];
	pid_t pid = fork();

	if (pid < 0)
		err(1, "fork");
	if (pid > 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	memset(padding, 'x', PADDING_BYTES);
	if (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY))
		err(1, "becoming nobody");
	execl(self, self, "--victim", file, padding, NULL);
	err(1, "%s", self);
}

/* ---- the file system: a directory with one file */

static void answer(int fd, const struct fuse_in_header *request, int error, const void *data, size_t size)
{
	char message[sizeof(struct fuse_out_header) + 256];
	struct fuse_out_header header = {
		.len = (uint32_t)(sizeof(header) + size), .error = error, .unique = request->unique};

	memcpy(message, &header, sizeof(header));
	if (size)
		memcpy(message + sizeof(header), data, size);
	if (write(fd, message, header.len) < 0 && errno != ENOENT)
		warn("answer");
}

static struct fuse_attr attributes(uint64_t inode)
{
	return (struct fuse_attr){
		.ino = inode,
		.size = inode == FILE_INODE ? FILE_BYTES : 0,
		.mode = inode == FILE_INODE ? S_IFREG | 0644 : S_IFDIR | 0755,
		.nlink = 1,
		.blksize = 4096,
	};
}

static void serve(int fd)
{
	static _Alignas(8) char request[REQUEST_BYTES];
	const struct fuse_in_header *header = (void *)request;
	struct fuse_init_out start = {.major = FUSE_KERNEL_VERSION, .minor = 31, .max_write = 4096};
	struct fuse_open_out opened = {.fh = 1};
	struct fuse_attr_out found = {.attr_valid = 1000};
	struct fuse_entry_out entry = {.nodeid = FILE_INODE, .attr_valid = 1000, .entry_valid = 1000};

	if (read(fd, request, sizeof(request)) < (ssize_t)sizeof(*header))
		return;
	switch (header->opcode) {
	case FUSE_INIT: answer(fd, header, 0, &start, sizeof(start)); break;
	case FUSE_LOOKUP:
		entry.attr = attributes(FILE_INODE);
		answer(fd, header, 0, &entry, sizeof(entry));
		break;
	case FUSE_GETATTR:
		found.attr = attributes(header->nodeid);
		answer(fd, header, 0, &found, sizeof(found));
		break;
	case FUSE_OPEN:
	case FUSE_OPENDIR: answer(fd, header, 0, &opened, sizeof(opened)); break;
	case FUSE_READ: /* never answered, on purpose */
	case FUSE_STATFS:
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT: break;
	default: answer(fd, header, -ENOSYS, NULL, 0);
	}
}

static int file_system_mount(const char *directory)
{
	char options[128];
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		err(77, "/dev/fuse");
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", fd);
	if (mount("fuse", directory, "fuse", MS_NOSUID | MS_NODEV, options))
		err(77, "mount");
	return fd;
}

int main(int argc, char **argv)
{
	char file[256];

	if (argc == 4 && !strcmp(argv[1], "--victim"))
		victim(argv[2], argv[3]);
	if (argc != 2)
		errx(2, "usage: fuse_arguments DIRECTORY");
	int fd = file_system_mount(argv[1]);

	snprintf(file, sizeof(file), "%s/file", argv[1]);
	pid_t pid = victim_start(argv[0], file);
	struct pollfd waits[] = {{.fd = fd, .events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN}};

	while (poll(waits, 2, -1) >= 0 && !waits[1].revents)
		serve(fd);
	umount2(argv[1], MNT_DETACH);
	close(fd); /* ends every pending read */
	kill(pid, SIGKILL);
	return 0;
}
