/* tracer-probe: flags, set-up, then the loop (probe.c) without privileges.
 *
 * It is the only part of Tracer that runs as root, and only until the BPF programs
 * are attached. It reads no configuration file and serves no socket.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <grp.h>
#include <malloc.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"
#include "probe/check.h"
#include "probe/clock.h"
#include "probe/kernel.h"
#include "probe/probe.h"
#include "probe/sandbox.h"

enum exit_code {
	EXIT_OK = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_UNSUPPORTED = 3,
	EXIT_PERMISSION = 4,
	EXIT_BUSY = 5,
};

static const char help[] =
"Usage: tracer-probe [OPTION...]\n"
"Watch processes in the kernel and send what is seen to tracer-correlator.\n"
"\n"
"  --socket PATH         correlator's socket (default /run/tracer/tracer.sock)\n"
"  --peer-uid USER       name or number of the user that the correlator runs as\n"
"                        (default: root only)\n"
"  --pin-dir DIR         in a BPF filesystem (default /sys/fs/bpf/tracer)\n"
"  --no-pin              leave nothing in the kernel when the probe ends\n"
"  --ring-size SIZE      of the ring, e.g. 4M; a power of two (default 16M)\n"
"  --period SECONDS      between looks at living processes (default 1)\n"
"  --lease SECONDS       pinned programs go on that long without a probe (default 3600)\n"
"  --ignore-uid USER     leave this user's processes out (repeatable)\n"
"  --ignore-comm NAME    leave processes of this name out (repeatable)\n"
"  --ignore-cgroup DIR   leave this cgroup out, and those below it: a directory of the\n"
"                        v2 hierarchy, or a cgroup id as tracer shows it (repeatable)\n"
"  --no-network          do not count what processes send and receive\n"
"  --device-major N      tell who holds character devices of that number too, besides\n"
"                        GPUs (repeatable)\n"
"  --user NAME           user to become (default nobody)\n"
"  --group NAME          group to keep, so that the socket can be reached\n"
"  --record FILE         write a recording instead of connecting; implies --no-pin\n"
"  --duration SECONDS    stop by itself after that time\n"
"  --ready-fd N          write '1' to this descriptor when the first look at living\n"
"                        processes has been sent\n"
"  --check [--json]      say what this kernel offers, and whether the probe would work\n"
"  --detach              remove what is pinned: nothing is collected any more\n"
"  --quiet, --debug      log warnings only, or everything\n"
"  --help, --version\n"
"\n"
"Exit status: 0 stopped by a signal or done; 1 failed; 2 wrong usage; 3 this kernel\n"
"cannot do it; 4 no permission; 5 another probe has the pins.\n";

struct options {
	struct kernel_options kernel;
	struct sandbox_options sandbox;
	const char *socket_path;
	const char *record_path;
	uid_t peer_uid;
	uint64_t period_ns;
	uint64_t lease_ns;
	uint64_t duration_ns;
	int ready_fd;
	bool check;
	bool json;
	bool detach;
};

static _Noreturn void usage_error(const char *option, const char *problem, const char *value)
{
	log_error("--%s: %s: %s; see tracer-probe --help", option, problem, value);
	exit(EXIT_USAGE);
}

static uint64_t parse_number(const char *option, const char *text, uint64_t highest)
{
	char *end;

	errno = 0;
	uint64_t number = strtoull(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || number > highest)
		usage_error(option, "not a number in range", text);
	return number;
}

static uint64_t parse_seconds(const char *option, const char *text)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end || !(seconds >= 0.05 && seconds <= 1e9))
		usage_error(option, "not a time in seconds, from 0.05 on", text);
	return (uint64_t)(seconds * 1e9);
}

static uint32_t parse_ring_size(const char *text)
{
	char *end;
	unsigned long long size = strtoull(text, &end, 10);

	if (*end == 'K' || *end == 'M')
		size *= *end++ == 'K' ? 1024 : 1024 * 1024;
	if (*end || size > 1024 * 1024 * 1024 || size < (unsigned long long)sysconf(_SC_PAGESIZE) ||
	    (size & (size - 1)))
		usage_error("ring-size", "not a power of two from one page to 1024M", text);
	return (uint32_t)size;
}

static const struct passwd *parse_user(const char *option, const char *name)
{
	const struct passwd *user = getpwnam(name);

	if (!user)
		usage_error(option, "no such user", name);
	return user;
}

static uid_t parse_uid(const char *option, const char *text)
{
	if (text[strspn(text, "0123456789")] == '\0')
		return (uid_t)parse_number(option, text, UINT32_MAX - 1);
	return parse_user(option, text)->pw_uid;
}

static void sandbox_user(struct sandbox_options *sandbox, const char *name)
{
	const struct passwd *user = parse_user("user", name);

	sandbox->uid = user->pw_uid;
	sandbox->gid = user->pw_gid;
}

static uint64_t parse_cgroup(const char *text)
{
	struct stat status;

	if (text[strspn(text, "0123456789")] == '\0')
		return parse_number("ignore-cgroup", text, UINT64_MAX);
	if (stat(text, &status))
		usage_error("ignore-cgroup", strerror(errno), text);
	return status.st_ino; /* the kernfs id; hierarchy 0 */
}

static void ignore_add(struct kernel_options *kernel, const char *option, enum ignore_kind kind,
		       const char *text)
{
	struct ignore_key key = {.kind = kind};

	if (kernel->ignore_count == KERNEL_IGNORE_MAX)
		usage_error(option, "too many things to ignore", text);
	if (kind == IGNORE_COMM)
		strncpy(key.comm, text, sizeof(key.comm) - 1);
	else
		key.number = kind == IGNORE_UID ? parse_uid(option, text) : parse_cgroup(text);
	kernel->ignore[kernel->ignore_count++] = key;
}

static void device_add(struct kernel_options *kernel, const char *option, const char *text)
{
	uint32_t major = (uint32_t)parse_number(option, text, 4095);

	if (major == 0 || !device_majors_add(&kernel->devices, major))
		usage_error(option, "no such device, or too many", text);
}

static gid_t parse_group(const char *name)
{
	const struct group *group = getgrnam(name);

	if (!group)
		usage_error("group", "no such group", name);
	return group->gr_gid;
}

enum option_code {
	OPTION_SOCKET = 256, OPTION_PEER_UID, OPTION_PIN_DIR, OPTION_NO_PIN, OPTION_RING_SIZE,
	OPTION_PERIOD, OPTION_LEASE, OPTION_IGNORE_UID, OPTION_IGNORE_COMM, OPTION_IGNORE_CGROUP,
	OPTION_NO_NETWORK, OPTION_DEVICE_MAJOR, OPTION_USER, OPTION_GROUP, OPTION_RECORD, OPTION_DURATION, OPTION_READY_FD, OPTION_CHECK,
	OPTION_JSON, OPTION_DETACH, OPTION_QUIET, OPTION_DEBUG, OPTION_HELP, OPTION_VERSION,
};

static const struct option long_options[] = {
	{"socket", required_argument, NULL, OPTION_SOCKET},
	{"peer-uid", required_argument, NULL, OPTION_PEER_UID},
	{"pin-dir", required_argument, NULL, OPTION_PIN_DIR},
	{"no-pin", no_argument, NULL, OPTION_NO_PIN},
	{"ring-size", required_argument, NULL, OPTION_RING_SIZE},
	{"period", required_argument, NULL, OPTION_PERIOD},
	{"lease", required_argument, NULL, OPTION_LEASE},
	{"ignore-uid", required_argument, NULL, OPTION_IGNORE_UID},
	{"ignore-comm", required_argument, NULL, OPTION_IGNORE_COMM},
	{"ignore-cgroup", required_argument, NULL, OPTION_IGNORE_CGROUP},
	{"no-network", no_argument, NULL, OPTION_NO_NETWORK},
	{"device-major", required_argument, NULL, OPTION_DEVICE_MAJOR},
	{"user", required_argument, NULL, OPTION_USER},
	{"group", required_argument, NULL, OPTION_GROUP},
	{"record", required_argument, NULL, OPTION_RECORD},
	{"duration", required_argument, NULL, OPTION_DURATION},
	{"ready-fd", required_argument, NULL, OPTION_READY_FD},
	{"check", no_argument, NULL, OPTION_CHECK},
	{"json", no_argument, NULL, OPTION_JSON},
	{"detach", no_argument, NULL, OPTION_DETACH},
	{"quiet", no_argument, NULL, OPTION_QUIET},
	{"debug", no_argument, NULL, OPTION_DEBUG},
	{"help", no_argument, NULL, OPTION_HELP},
	{"version", no_argument, NULL, OPTION_VERSION},
	{NULL, 0, NULL, 0},
};

static void option_take(struct options *options, int code, const char *name)
{
	switch (code) {
	case OPTION_SOCKET:
		options->socket_path = optarg;
		break;
	case OPTION_PEER_UID:
		options->peer_uid = parse_uid(name, optarg);
		break;
	case OPTION_PIN_DIR:
		options->kernel.pin_dir = optarg;
		break;
	case OPTION_NO_PIN:
		options->kernel.pin_dir = NULL;
		break;
	case OPTION_RING_SIZE:
		options->kernel.ring_bytes = parse_ring_size(optarg);
		break;
	case OPTION_PERIOD:
		options->period_ns = parse_seconds(name, optarg);
		break;
	case OPTION_LEASE:
		options->lease_ns = parse_seconds(name, optarg);
		break;
	case OPTION_IGNORE_UID:
		ignore_add(&options->kernel, name, IGNORE_UID, optarg);
		break;
	case OPTION_IGNORE_COMM:
		ignore_add(&options->kernel, name, IGNORE_COMM, optarg);
		break;
	case OPTION_IGNORE_CGROUP:
		ignore_add(&options->kernel, name, IGNORE_CGROUP, optarg);
		break;
	case OPTION_NO_NETWORK:
		options->kernel.no_network = true;
		break;
	case OPTION_DEVICE_MAJOR:
		device_add(&options->kernel, name, optarg);
		break;
	case OPTION_USER:
		sandbox_user(&options->sandbox, optarg);
		break;
	case OPTION_GROUP:
		options->sandbox.group = parse_group(optarg);
		break;
	case OPTION_RECORD:
		options->record_path = optarg;
		break;
	case OPTION_DURATION:
		options->duration_ns = parse_seconds(name, optarg);
		break;
	case OPTION_READY_FD:
		options->ready_fd = (int)parse_number(name, optarg, 65535);
		break;
	case OPTION_CHECK:
		options->check = true;
		break;
	case OPTION_JSON:
		options->json = true;
		break;
	case OPTION_DETACH:
		options->detach = true;
		break;
	case OPTION_QUIET:
		log_init("tracer-probe", LOG_LEVEL_WARNING);
		break;
	case OPTION_DEBUG:
		log_init("tracer-probe", LOG_LEVEL_DEBUG);
		break;
	case OPTION_HELP:
		fputs(help, stdout);
		exit(EXIT_OK);
	case OPTION_VERSION:
		puts("tracer-probe " TRACER_VERSION);
		exit(EXIT_OK);
	default: /* getopt has said what is wrong */
		exit(EXIT_USAGE);
	}
}

static void options_parse(struct options *options, int argc, char **argv)
{
	int code, index = 0;

	*options = (struct options){
		.kernel = {.pin_dir = "/sys/fs/bpf/tracer", .ring_bytes = 16 * 1024 * 1024},
		.sandbox = {.group = (gid_t)-1},
		.socket_path = "/run/tracer/tracer.sock",
		.period_ns = 1000000000ULL,
		.lease_ns = 3600 * 1000000000ULL,
		.ready_fd = -1,
	};
	sandbox_user(&options->sandbox, "nobody");
	while ((code = getopt_long(argc, argv, "", long_options, &index)) != -1)
		option_take(options, code, long_options[index].name);
	if (optind < argc) {
		log_error("unexpected argument: %s; see tracer-probe --help", argv[optind]);
		exit(EXIT_USAGE);
	}
	if (options->record_path)
		options->kernel.pin_dir = NULL;
}

static int exit_code_of(int error)
{
	switch (error) {
	case 0:
		return EXIT_OK;
	case -EPERM:
		return EXIT_PERMISSION;
	case -EBUSY:
		return EXIT_BUSY;
	case -ENOENT:
	case -EACCES: /* the verifier's */
	case -EINVAL:
	case -E2BIG:
	case -ENOTSUP:
		return EXIT_UNSUPPORTED;
	}
	return EXIT_FAILED;
}

static int stream_open(struct probe *probe, const struct options *options)
{
	if (!options->record_path) {
		stream_init_socket(&probe->stream, options->socket_path, options->peer_uid);
		return 0;
	}
	int fd = open(options->record_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int result = fd < 0 ? -errno : stream_init_file(&probe->stream, fd, &probe->hello);
	if (result)
		log_error("cannot write %s: %s", options->record_path, strerror(-result));
	return result;
}

static int probe_main(const struct options *options)
{
	static struct probe probe; /* large: holds the buffers */
	struct sandbox_options sandbox = options->sandbox;
	int result = kernel_open(&probe.kernel, &options->kernel);

	if (result)
		return exit_code_of(result);
	malloc_trim(0); /* libbpf has read the kernel's whole BTF */
	probe.period_ns = options->period_ns;
	probe.lease_ns = options->lease_ns;
	probe.ready_fd = options->ready_fd;
	if (options->duration_ns)
		probe.until_boot_ns = clock_boot_ns() + options->duration_ns;
	probe_fill_hello(&probe);
	sandbox.iterator_link = probe.kernel.iterator[KERNEL_SAMPLE];
	result = stream_open(&probe, options);
	if (!result)
		result = sandbox_enter(&sandbox);
	if (!result)
		result = probe_run(&probe);
	stream_deinit(&probe.stream);
	kernel_close(&probe.kernel);
	return result ? EXIT_FAILED : EXIT_OK;
}

int main(int argc, char **argv)
{
	struct options options;
	sigset_t signals;

	log_init("tracer-probe", LOG_LEVEL_INFO);
	options_parse(&options, argc, argv);
	if (options.check)
		return exit_code_of(check_print(&options.kernel, options.json));
	if (options.detach)
		return exit_code_of(kernel_detach(options.kernel.pin_dir));

	/* Open only while the loop waits, so that none is missed. */
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	return probe_main(&options);
}
