/* tracer-probe: options, set-up, then the loop (forward/) without privileges.
 *
 * It is the only part of Tracer that runs as root, and only until the BPF programs
 * are attached. It reads no configuration file and serves no socket.
 */
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/option.h"
#include "common/parse.h"
#include "common/pid_namespace.h"
#include "common/privilege.h"
#include "probe/forward/arguments.h"
#include "probe/kernel.h"
#include "probe/sandbox.h"

enum exit_code {
	EXIT_OK = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = OPTION_EXIT_USAGE,
	EXIT_UNSUPPORTED = 3,
	EXIT_PERMISSION = 4,
	EXIT_BUSY = 5,
};

#define SECOND 1000000000LL
#define NOBODY 65534

static struct options {
	struct kernel_options kernel;
	struct option_user user, peer;
	gid_t group;
	const char *socket_path, *record_path;
	int64_t period_ns, lease_ns, duration_ns;
	int ready_fd;
	bool no_pin, detach, show_ring, quiet, debug;
} options = {
	.kernel = {.pin_dir = "/sys/fs/bpf/tracer", .ring_bytes = 0 /* by processors */},
	.user = {.uid = NOBODY, .gid = NOBODY},
	.group = PRIVILEGE_NO_GROUP,
	.socket_path = TRACER_RUN_DIR "/tracer.sock",
	.period_ns = SECOND,
	.lease_ns = 3600 * SECOND,
	.ready_fd = -1,
};

static const char *parse_ring_size(const struct option_spec *spec, const char *text)
{
	uint64_t bytes;

	if (parse_number(text, parse_sizes, (uint64_t)sysconf(_SC_PAGESIZE), 1ULL << 30, &bytes) ||
	    (bytes & (bytes - 1)))
		return "a power of two from one page to 1G";
	options.kernel.ring_bytes = (uint32_t)bytes;
	return NULL;
}

/* The inode number of a cgroup's directory is its kernfs id, in hierarchy 0. */
static bool parse_cgroup(const char *text, uint64_t *ret_id)
{
	struct stat status;

	if (parse_number(text, parse_counts, 0, UINT64_MAX, ret_id) == 0)
		return true;
	if (stat(text, &status))
		return false;
	*ret_id = status.st_ino;
	return true;
}

static const char *parse_ignore(const struct option_spec *spec, const char *text)
{
	struct kernel_options *kernel = &options.kernel;
	struct ignore_key key = {0};
	uid_t uid;
	gid_t gid;

	if (kernel->ignore_count == KERNEL_IGNORE_MAX)
		return "fewer values";
	if (strncmp(text, "comm=", 5) == 0) {
		key.kind = IGNORE_COMM;
		strncpy(key.comm, text + 5, sizeof(key.comm) - 1);
	} else if (strncmp(text, "uid=", 4) == 0) {
		key.kind = IGNORE_UID;
		if (parse_user(text + 4, &uid, &gid))
			return "an existing user";
		key.number = uid;
	} else if (strncmp(text, "cgroup=", 7) == 0) {
		key.kind = IGNORE_CGROUP;
		if (!parse_cgroup(text + 7, &key.number))
			return "an existing cgroup";
	} else {
		return "uid=USER, comm=NAME or cgroup=DIR";
	}
	kernel->ignore[kernel->ignore_count++] = key;
	return NULL;
}

static const char *parse_device(const struct option_spec *spec, const char *text)
{
	uint64_t major;

	if (parse_number(text, parse_counts, 1, 4095, &major) ||
	    !device_majors_add(&options.kernel.devices, (uint32_t)major))
		return "a device's major number, a few at most";
	return NULL;
}

static const char *parse_socket(const struct option_spec *spec, const char *text)
{
	if (strlen(text) >= sizeof(((struct sockaddr_un *)NULL)->sun_path))
		return "a shorter path";
	options.socket_path = text;
	return NULL;
}

static const struct option_program program = {
	.name = "tracer-probe",
	.purpose = "Watches processes in the kernel and sends events to tracer-correlator.",
	.exit_text = "Exit status: 0 stopped by a signal or done; 1 failure; 2 usage error; 3 kernel\n"
		     "not supported; 4 no permission; 5 pins in use by another probe.",
	/* clang-format off */
	.specs = (const struct option_spec[]){
		{"socket", 0, "PATH", NULL, "socket of the correlator (default " TRACER_RUN_DIR "/tracer.sock)",
		 .parse = parse_socket},
		{"peer-uid", 0, "USER", NULL, "user that the correlator runs as (default root)", .user = &options.peer},
		{"pin-dir", 0, "DIR", NULL, "pin directory, in a BPF filesystem (default /sys/fs/bpf/tracer)",
		 .text = &options.kernel.pin_dir},
		{"no-pin", 0, NULL, NULL, "leave nothing in the kernel on exit", .flag = &options.no_pin},
		{"ring-size", 0, "SIZE", NULL, "size of the ring, e.g. 4M (default 16M, above 64 processors 32M, above 128 64M)", .parse = parse_ring_size},
		{"period", 0, "TIME", NULL, "interval between process scans (default 1s)",
		 .duration_ns = &options.period_ns, .least = SECOND / 20, .most = UINT32_MAX * SECOND},
		{"lease", 0, "TIME", NULL, "how long the pins outlive the probe (default 1h)",
		 .duration_ns = &options.lease_ns, .least = SECOND / 20, .most = UINT32_MAX * SECOND},
		{"ignore", 0, "KIND=VALUE", NULL, "ignore uid=USER, comm=NAME or cgroup=DIR; may be repeated",
		 .parse = parse_ignore},
		{"no-network", 0, NULL, NULL, "do not count bytes sent and received",
		 .flag = &options.kernel.no_network},
		{"device-major", 0, "N", NULL, "report who uses such devices, like GPUs; may be repeated",
		 .parse = parse_device},
		{"user", 0, "NAME", NULL, "user to become (default nobody)", .user = &options.user},
		{"group", 0, "NAME", NULL, "group to keep for access to the socket", .group = &options.group},
		{"record", 0, "FILE", NULL, "write a recording; do not connect, do not pin",
		 .text = &options.record_path},
		{"duration", 0, "TIME", NULL, "stop after that time",
		 .duration_ns = &options.duration_ns, .least = SECOND / 20, .most = UINT32_MAX * SECOND},
		{"ready-fd", 0, "N", NULL, "write '1' to this descriptor after the first scan",
		 .descriptor = &options.ready_fd, .most = 65535},
		{"show-ring", 0, NULL, NULL, "print how many bytes wait in the pinned ring, and exit",
		 .flag = &options.show_ring},
		{"detach", 0, NULL, NULL, "remove the pins and stop collecting", .flag = &options.detach},
		{"quiet", 0, NULL, NULL, "log warnings only", .flag = &options.quiet},
		{"debug", 0, NULL, NULL, "log everything", .flag = &options.debug},
		OPTION_SPECS_OF_DAEMON},
	/* clang-format on */
};

static int exit_code_of(int error)
{
	switch (error) {
	case 0: return EXIT_OK;
	case -EPERM: return EXIT_PERMISSION;
	case -EBUSY: return EXIT_BUSY;
	case -ENOENT:
	case -ESRCH:  /* no BTF */
	case -EACCES: /* from the verifier */
	case -EINVAL:
	case -E2BIG:
	case -ENOTSUP: return EXIT_UNSUPPORTED;
	}
	return EXIT_FAILED;
}

static int stream_open(struct forward *forward)
{
	if (!options.record_path) {
		stream_init_socket(&forward->stream, options.socket_path, options.peer.uid);
		return 0;
	}
	int result = stream_init_file(&forward->stream, options.record_path, &forward->hello);
	if (result)
		log_error("cannot write %s: %s", options.record_path, strerror(-result));
	return result;
}

#define READER_SOCKET 3

/* Keeps only its end of the socket and the standard descriptors, with no signal blocked. */
static void reader_main(int socket)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_NAME, "tracer-reader"); /* so that it is not taken for another probe */
	if (dup2(socket, READER_SOCKET) == READER_SOCKET && close_range(READER_SOCKET + 1, ~0U, 0) == 0 &&
	    sandbox_enter_reader(options.user.uid, options.user.gid) == 0)
		arguments_serve(READER_SOCKET);
	_exit(EXIT_FAILED);
}

/* Called before anything is open that the reader does not need. Returns its socket, or -1: the arguments
 * of processes that are already running then stay unknown. It ends when the socket is closed. */
static int reader_start(void)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -1;
	pid_t pid = fork();
	if (pid == 0)
		reader_main(ends[1]);
	close(ends[1]);
	if (pid > 0)
		return ends[0];
	log_warning("cannot start the argument reader: %s", strerror(errno));
	close(ends[0]);
	return -1;
}

static int probe_main(void)
{
	struct kernel kernel;
	static struct forward forward;
	int reader = reader_start();
	int result = kernel_open(&kernel, &options.kernel);

	if (result)
		return exit_code_of(result);
	kernel.source.arguments_fd = reader;
	if (!pid_namespace_is_initial("/proc/self/ns/pid"))
		log_warning(
			"not in the host's PID namespace: of processes outside it, figures come only when they end, and "
			"what ran before is unknown");
	malloc_trim(0); /* libbpf has read the kernel's whole BTF */
	forward.source = &kernel.source;
	forward.period_ns = (uint64_t)options.period_ns;
	forward.lease_ns = (uint64_t)options.lease_ns;
	forward.ready_fd = options.ready_fd;
	if (options.duration_ns)
		forward.until_boot_ns = clock_boot_ns() + (uint64_t)options.duration_ns;
	forward_fill_hello(&forward);
	int code = stream_open(&forward) ? EXIT_FAILED : EXIT_OK;
	if (!code)
		code = exit_code_of(sandbox_enter(options.user.uid, options.user.gid, options.group,
						  kernel.source.iterators_are_files ? kernel.source.iterator : NULL));
	if (!code)
		code = exit_code_of(forward_run(&forward));
	stream_deinit(&forward.stream);
	kernel_close(&kernel);
	return code;
}

int main(int argc, char **argv)
{
	sigset_t signals;

	log_init(program.name, LOG_LEVEL_INFO);
	int result = option_parse_program(&program, argc, argv, NULL, NULL);
	if (result)
		return option_exit(result);
	if (options.quiet || options.debug)
		log_init(program.name, options.debug ? LOG_LEVEL_DEBUG : LOG_LEVEL_WARNING);
	if (options.show_ring)
		return exit_code_of(kernel_show_ring(options.kernel.pin_dir));
	if (options.detach)
		return exit_code_of(kernel_detach(options.kernel.pin_dir));
	if (options.kernel.ring_bytes == 0)
		options.kernel.ring_bytes = ring_size_of_host(sysconf(_SC_NPROCESSORS_ONLN));
	if (options.record_path || options.no_pin)
		options.kernel.pin_dir = NULL;

	/* Unblocked only while the loop waits, so that none is missed. */
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN); /* a write that nobody reads fails, but does not end the probe */
	return probe_main();
}
