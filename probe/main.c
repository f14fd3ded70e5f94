/* tracer-probe: flags, set-up, then the loop (probe.c) without privileges.
 *
 * It is the only part of Tracer that runs as root, and only until the BPF programs
 * are attached. It reads no configuration file and serves no socket.
 */
#include <errno.h>
#include <getopt.h>
#include <grp.h>
#include <malloc.h>
#include <pwd.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
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
	bool no_pin;
	bool detach;
	bool quiet;
	bool debug;
	bool help;
	bool version;
};

/* What an option is given as, and so what is stored where. */
enum option_kind { FLAG, TEXT, SECONDS, SIZE, DESCRIPTOR, PEER, USER, GROUP, IGNORE, DEVICE };

static const struct option_rule {
	const char *name, *value, *meaning;
	enum option_kind kind;
	size_t at; /* in struct options */
} rules[] = {
#define AT(field) offsetof(struct options, field)
	{"socket", "PATH", "the correlator's (/run/tracer/tracer.sock)", TEXT, AT(socket_path)},
	{"peer-uid", "USER", "that the correlator runs as (root)", PEER, AT(peer_uid)},
	{"pin-dir", "DIR", "in a BPF filesystem (/sys/fs/bpf/tracer)", TEXT, AT(kernel.pin_dir)},
	{"no-pin", NULL, "leave nothing in the kernel at the end", FLAG, AT(no_pin)},
	{"ring-size", "SIZE", "of the ring, e.g. 4M (16M)", SIZE, AT(kernel.ring_bytes)},
	{"period", "SECONDS", "between looks at living processes (1)", SECONDS, AT(period_ns)},
	{"lease", "SECONDS", "pinned programs go on that long alone (3600)", SECONDS, AT(lease_ns)},
	{"ignore", "KIND=VALUE", "uid=USER, comm=NAME, cgroup=DIR; repeatable", IGNORE, AT(kernel)},
	{"no-network", NULL, "do not count bytes sent and received", FLAG, AT(kernel.no_network)},
	{"device-major", "N", "who holds such devices, besides GPUs; repeatable", DEVICE, AT(kernel)},
	{"user", "NAME", "to become (nobody)", USER, AT(sandbox)},
	{"group", "NAME", "to keep, so that the socket can be reached", GROUP, AT(sandbox.group)},
	{"record", "FILE", "write a recording, connect to nobody, pin nothing", TEXT, AT(record_path)},
	{"duration", "SECONDS", "stop after that time", SECONDS, AT(duration_ns)},
	{"ready-fd", "N", "write '1' there after the first look", DESCRIPTOR, AT(ready_fd)},
	{"detach", NULL, "remove what is pinned: nothing is collected any more", FLAG, AT(detach)},
	{"quiet", NULL, "log warnings only", FLAG, AT(quiet)},
	{"debug", NULL, "log everything", FLAG, AT(debug)},
	{"help", NULL, "this; tracer-probe(8) has the rest", FLAG, AT(help)},
	{"version", NULL, "which release this is", FLAG, AT(version)},
#undef AT
};
#define RULE_COUNT (sizeof(rules) / sizeof(rules[0]))

static _Noreturn void usage_error(const char *option, const char *problem, const char *value)
{
	log_error("--%s: %s: %s; see tracer-probe --help", option, problem, value);
	exit(EXIT_USAGE);
}

static void print_help(void)
{
	char option[32];

	puts("Usage: tracer-probe [OPTION...]\n"
	     "Watch processes in the kernel and send what is seen to tracer-correlator.\n");
	for (size_t i = 0; i < RULE_COUNT; i++) {
		snprintf(option, sizeof(option), "%s%s%s", rules[i].name,
			 rules[i].value ? " " : "", rules[i].value ? rules[i].value : "");
		printf("  --%-20s %s\n", option, rules[i].meaning);
	}
	puts("\nExit status: 0 stopped by a signal or done; 1 failed; 2 wrong usage; 3 this kernel\n"
	     "cannot do it; 4 no permission; 5 another probe has the pins.");
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

static uint32_t parse_size(const char *option, const char *text)
{
	char *end;
	unsigned long long size = strtoull(text, &end, 10);

	if (*end == 'K' || *end == 'M')
		size *= *end++ == 'K' ? 1024 : 1024 * 1024;
	if (*end || size > 1024 * 1024 * 1024 || size < (unsigned long long)sysconf(_SC_PAGESIZE) ||
	    (size & (size - 1)))
		usage_error(option, "not a power of two from one page to 1024M", text);
	return (uint32_t)size;
}

static bool is_number(const char *text)
{
	return text[strspn(text, "0123456789")] == '\0';
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
	return is_number(text) ? (uid_t)parse_number(option, text, UINT32_MAX - 1)
			       : parse_user(option, text)->pw_uid;
}

static gid_t parse_group(const char *option, const char *name)
{
	const struct group *group = getgrnam(name);

	if (!group)
		usage_error(option, "no such group", name);
	return group->gr_gid;
}

/* A directory's inode is its cgroup's kernfs id, in hierarchy 0. */
static uint64_t parse_cgroup(const char *option, const char *text)
{
	struct stat status;

	if (is_number(text))
		return parse_number(option, text, UINT64_MAX);
	if (stat(text, &status))
		usage_error(option, strerror(errno), text);
	return status.st_ino;
}

static void ignore_add(struct kernel_options *kernel, const char *option, const char *text)
{
	struct ignore_key key = {0};
	const char *value = strchr(text, '=');

	if (kernel->ignore_count == KERNEL_IGNORE_MAX)
		usage_error(option, "too many things to ignore", text);
	if (value++ && strncmp(text, "comm=", 5) == 0) {
		key.kind = IGNORE_COMM;
		strncpy(key.comm, value, sizeof(key.comm) - 1);
	} else if (value && strncmp(text, "uid=", 4) == 0) {
		key.kind = IGNORE_UID;
		key.number = parse_uid(option, value);
	} else if (value && strncmp(text, "cgroup=", 7) == 0) {
		key.kind = IGNORE_CGROUP;
		key.number = parse_cgroup(option, value);
	} else {
		usage_error(option, "not uid=, comm= or cgroup= and a value", text);
	}
	kernel->ignore[kernel->ignore_count++] = key;
}

static void device_add(struct kernel_options *kernel, const char *option, const char *text)
{
	uint32_t major = (uint32_t)parse_number(option, text, 4095);

	if (major == 0 || !device_majors_add(&kernel->devices, major))
		usage_error(option, "no such device, or too many", text);
}

static void option_take(struct options *options, const struct option_rule *rule, const char *value)
{
	void *field = (char *)options + rule->at;

	switch (rule->kind) {
	case FLAG:
		*(bool *)field = true;
		break;
	case TEXT:
		*(const char **)field = value;
		break;
	case SECONDS:
		*(uint64_t *)field = parse_seconds(rule->name, value);
		break;
	case SIZE:
		*(uint32_t *)field = parse_size(rule->name, value);
		break;
	case DESCRIPTOR:
		*(int *)field = (int)parse_number(rule->name, value, 65535);
		break;
	case PEER:
		*(uid_t *)field = parse_uid(rule->name, value);
		break;
	case USER:
		options->sandbox.uid = parse_user(rule->name, value)->pw_uid;
		options->sandbox.gid = parse_user(rule->name, value)->pw_gid;
		break;
	case GROUP:
		*(gid_t *)field = parse_group(rule->name, value);
		break;
	case IGNORE:
		ignore_add(field, rule->name, value);
		break;
	case DEVICE:
		device_add(field, rule->name, value);
		break;
	}
}

static void options_parse(struct options *options, int argc, char **argv)
{
	struct option long_options[RULE_COUNT + 1] = {0};
	int result, index = 0;

	for (size_t i = 0; i < RULE_COUNT; i++)
		long_options[i] = (struct option){
			rules[i].name, rules[i].value ? required_argument : no_argument, NULL, 1};
	option_take(options, &(struct option_rule){.name = "user", .kind = USER}, "nobody");
	while ((result = getopt_long(argc, argv, "", long_options, &index)) == 1)
		option_take(options, &rules[index], optarg);
	if (result != -1) /* getopt has said what is wrong */
		exit(EXIT_USAGE);
	if (optind < argc) {
		log_error("unexpected argument: %s; see tracer-probe --help", argv[optind]);
		exit(EXIT_USAGE);
	}
	if (options->record_path || options->no_pin)
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
	int result = stream_init_file(&probe->stream, options->record_path, &probe->hello);
	if (result)
		log_error("cannot write %s: %s", options->record_path, strerror(-result));
	return result;
}

static int probe_main(const struct options *options)
{
	static struct probe probe;
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
	result = stream_open(&probe, options);
	if (!result)
		result = sandbox_enter(&options->sandbox);
	if (!result)
		result = probe_run(&probe);
	stream_deinit(&probe.stream);
	kernel_close(&probe.kernel);
	return exit_code_of(result);
}

int main(int argc, char **argv)
{
	struct options options = {
		.kernel = {.pin_dir = "/sys/fs/bpf/tracer", .ring_bytes = 16 * 1024 * 1024},
		.sandbox = {.group = (gid_t)-1},
		.socket_path = "/run/tracer/tracer.sock",
		.period_ns = 1000000000ULL,
		.lease_ns = 3600 * 1000000000ULL,
		.ready_fd = -1,
	};
	sigset_t signals;

	log_init("tracer-probe", LOG_LEVEL_INFO);
	options_parse(&options, argc, argv);
	if (options.help)
		print_help();
	if (options.version)
		puts("tracer-probe " TRACER_VERSION);
	if (options.help || options.version)
		return EXIT_OK;
	if (options.quiet || options.debug)
		log_init("tracer-probe", options.debug ? LOG_LEVEL_DEBUG : LOG_LEVEL_WARNING);
	if (options.detach)
		return exit_code_of(kernel_detach(options.kernel.pin_dir));

	/* Open only while the loop waits, so that none is missed. */
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	return probe_main(&options);
}
