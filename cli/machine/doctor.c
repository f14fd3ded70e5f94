/* tracer doctor: what would work on this host, what would not, and how to fix it.
 *
 * It only reads and changes nothing.
 */
#include <errno.h>
#include <pwd.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <sys/wait.h>

#include <linux/landlock.h>
#include <linux/magic.h>

#include "analysis/query/units.h"
#include "cli/options.h"
#include "cli/process/daemons.h"
#include "cli/process/program.h"
#include "cli/site_rules.h"
#include "common/shipper_status.h"

#define CAPABILITY_PERFMON 38
#define CAPABILITY_BPF 39
#define CAPABILITY_ADMIN 21
#define DISK_LEAST_BYTES (1LL << 30) /* a busy host's month is a few hundred MiB */

static const char *rules, *shipper = SHIPPER_STATE_DEFAULT;

static const struct option_spec option_specs[] = {
	OPTION_SPECS_OF_FORMAT,
	OPTION_SPEC_STORE,
	OPTION_SPEC_SHIPPER(shipper),
	{"rules", 'r', "DIR", "directory", "read site rules from DIR (else " SITE_RULES_DEFAULT ")", .text = &rules},
	OPTION_SPECS_LAST,
};

/* Adds one of two checks: `good`, or `bad` and how to fix it (NULL if it cannot be fixed). */
static void add_check(struct checks *checks, const char *topic, bool is_good, const char *good,
		      enum check_level bad_level, const char *bad, const char *fix)
{
	struct check *check = checks_add(checks, is_good ? CHECK_OK : bad_level, topic, "%s", is_good ? good : bad);

	if (!is_good && fix)
		check_fix(check, "%s", fix);
}

/* ---- the kernel -------------------------------------------------------------- */

/* Whether a kernel has a feature is seen from its symbols, not its version: features are ported to older ones. */
static bool kernel_has_symbol(const char *symbol)
{
	char line[512];
	FILE *file = fopen("/proc/kallsyms", "re");
	size_t length = strlen(symbol);
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file)) {
		const char *at = strstr(line, symbol);

		found = at && at[-1] == ' ' && strchr("\n\t ", at[length]);
	}
	if (file)
		fclose(file);
	return found;
}

/* Whether the probe's programs load: tried once, by the probe itself. */
enum load { LOAD_NOT_TRIED, LOAD_WORKS, LOAD_FAILS };

/* If the probe could be tried, its result counts. */
static void check_kernel(struct checks *checks, enum load load)
{
	struct utsname name;

	uname(&name);
	if (load == LOAD_WORKS || kernel_has_symbol("bpf_ringbuf_output")) {
		checks_add(checks, CHECK_OK, "kernel", "Linux %s on %s", name.release, name.machine);
		return;
	}
	check_fix(checks_add(checks, load == LOAD_FAILS ? CHECK_MISSING : CHECK_LIMITED, "kernel",
			     "Linux %s: the probe needs 5.10, or a distribution kernel with the same features",
			     name.release),
		  load == LOAD_FAILS ? "install a newer kernel" : "run sudo tracer doctor to try it");
}

static void check_btf(struct checks *checks)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK) == 0)
		checks_add(checks, CHECK_OK, "BTF", "/sys/kernel/btf/vmlinux describes this kernel");
	else
		check_fix(checks_add(checks, CHECK_MISSING, "BTF", "/sys/kernel/btf/vmlinux: %s: the probe cannot load",
				     strerror(errno)),
			  "use a kernel built with CONFIG_DEBUG_INFO_BTF=y, as in distributions since 2020");
}

static void check_lockdown(struct checks *checks)
{
	char text[256];

	program_read_line("/sys/kernel/security/lockdown", text);
	add_check(checks, "lockdown", !strstr(text, "[confidentiality]"), *text ? text : "not in this kernel",
		  CHECK_MISSING, "confidentiality: BPF may not read kernel memory",
		  "boot with lockdown=integrity, or without lockdown");
}

static bool has_capabilities(void)
{
	char line[256];
	FILE *file = fopen("/proc/self/status", "re");
	unsigned long long effective = 0;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "CapEff: %llx", &effective) == 1)
			break;
	if (file)
		fclose(file);
	return effective >> CAPABILITY_ADMIN & 1 ||
	       ((effective >> CAPABILITY_BPF & 1) && (effective >> CAPABILITY_PERFMON & 1));
}

static void check_permission(struct checks *checks)
{
	char text[256];

	add_check(checks, "permission", has_capabilities(), "may load BPF programs", CHECK_LIMITED,
		  "this user can only read stored data; tracing needs root, or CAP_BPF and CAP_PERFMON",
		  "run sudo tracer doctor for all checks");
	program_read_line("/proc/sys/kernel/unprivileged_bpf_disabled", text);
	checks_add(checks, CHECK_OK, "unprivileged BPF", "%s: does not affect tracer",
		   *text == '0' ? "allowed"
		   : *text      ? "not allowed"
				: "unknown");
}

static void check_cgroups(struct checks *checks)
{
	struct statfs whole, unified;
	const char *text = "no hierarchy mounted: containers and jobs cannot be distinguished";
	enum check_level level = CHECK_LIMITED;

	if (statfs("/sys/fs/cgroup", &whole) == 0 && whole.f_type == CGROUP2_SUPER_MAGIC) {
		text = "v2: containers, services and jobs are distinguished";
		level = CHECK_OK;
	} else if (statfs("/sys/fs/cgroup/unified", &unified) == 0 && unified.f_type == CGROUP2_SUPER_MAGIC) {
		text = "hybrid v1 and v2: processes are distinguished by whichever they are in";
		level = CHECK_OK;
	} else if (access("/sys/fs/cgroup/memory", F_OK) == 0) {
		text = "v1: containers and jobs are distinguished by the v1 paths";
		level = CHECK_OK;
	}
	checks_add(checks, level, "cgroups", "%s", text);
}

static void check_bpffs(struct checks *checks)
{
	bool installed = access(TRACER_STATE_DIR, F_OK) == 0;

	add_check(checks, "bpffs", daemons_have_bpffs(), "/sys/fs/bpf: the probe can be restarted without a gap",
		  installed ? CHECK_MISSING : CHECK_LIMITED,
		  "not mounted on /sys/fs/bpf: the service tracer-probe cannot start; tracer run can",
		  "mount -t bpf bpf /sys/fs/bpf; at each boot: add \"bpf /sys/fs/bpf bpf\" to /etc/fstab");
}

static void check_accounting(struct checks *checks)
{
	char text[256];

	program_read_line("/proc/sys/kernel/task_delayacct", text);
	bool has_switch = *text, is_on = *text == '1';
	if (!has_switch && kernel_has_symbol("__delayacct_blkio_start")) /* before 5.14: on from the start */
		is_on = !strstr(program_read_line("/proc/cmdline", text), "nodelayacct");
	if (is_on)
		checks_add(checks, CHECK_OK, "delay accounting", "on: time spent waiting for disks is measured");
	else
		check_fix(checks_add(checks, CHECK_LIMITED, "delay accounting",
				     "%s: block_io_delay_ns is unknown; all other figures are available",
				     has_switch ? "off" : "not in this kernel"),
			  "%s",
			  has_switch ? "sysctl kernel.task_delayacct=1 (costs under 1 %; applies to "
				       "processes that start afterwards)"
				     : "");
	add_check(checks, "PSI", access("/proc/pressure/cpu", R_OK) == 0, "pressure of this host is measured",
		  CHECK_LIMITED, "off: pressure of this host is unknown; all else works", "boot with psi=1");
}

/* ---- the programs ------------------------------------------------------------ */

static void check_network(struct checks *checks)
{
	add_check(checks, "network", kernel_has_symbol("__traceiter_sock_recv_length"),
		  "bytes sent and received are measured", CHECK_LIMITED,
		  "bytes sent and received are unknown: they need Linux 6.3", NULL);
}

static void check_peaks(struct checks *checks)
{
	add_check(checks, "peak memory", kernel_has_symbol("register_ftrace_direct"),
		  "of each process is read before it ends", CHECK_LIMITED,
		  "unknown or too low for many processes: on arm64 it needs Linux 6.4", NULL);
}

static void check_threads(struct checks *checks)
{
	add_check(checks, "threads", kernel_has_symbol("bpf_loop"), "up to 65,536 of a process are added up",
		  CHECK_LIMITED,
		  "a process with more than 128 has no CPU time until its end: longer loops need Linux 5.17", NULL);
}

static void check_landlock(struct checks *checks)
{
	add_check(checks, "Landlock",
		  syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) > 0,
		  "confines the daemons, besides seccomp", CHECK_LIMITED,
		  "off or not in this kernel (5.13): seccomp alone confines the daemons", NULL);
}

/* Nothing on a host without a device. */
static void check_gpus(struct checks *checks)
{
	size_t count = daemons_count_gpus();

	if (count == 0)
		return;
	if (daemons_have_sampler())
		checks_add(checks, CHECK_OK, "GPUs", "%s: a sampler reports what they do for each process",
			   units_counted((int64_t)count, false, "device", "devices"));
	else
		check_fix(checks_add(checks, CHECK_LIMITED, "GPUs",
				     "%s and no sampler: which process holds them is known, not what they do for it",
				     units_counted((int64_t)count, false, "device", "devices")),
			  "systemctl enable --now tracer-sampler-nvidia");
}

/* Starts the probe briefly, without a receiver, to see whether its programs load and attach. If not,
 * `ret_reason` is its error message. */
static enum load probe_try(char *path, char *ret_reason, size_t capacity)
{
	char *argv[] = {path, "--record", "/dev/null", "--duration", "0.3", "--ring-size", "64K", "--quiet", NULL};
	int fd = memfd_create("tracer-doctor", MFD_CLOEXEC), status = -1;
	pid_t pid = fd < 0 ? -1 : program_spawn(argv, fd, -1);
	enum load load = LOAD_FAILS;

	if (pid > 0 && waitpid(pid, &status, 0) == pid && status == 0)
		load = LOAD_WORKS;
	program_log_tail(fd, ret_reason, capacity);
	if (fd >= 0)
		close(fd);
	return load;
}

static void check_program(struct checks *checks, const char *name, const char *path)
{
	add_check(checks, name, *path, path, CHECK_MISSING, "not found",
		  "install it next to tracer, or add its directory to PATH");
}

static void check_load(struct checks *checks, enum load load, const char *reason)
{
	const char *words = strstr(reason, ": "); /* after the program's name */

	if (load == LOAD_WORKS)
		checks_add(checks, CHECK_OK, "load", "BPF programs load, attach and iterate");
	else if (load == LOAD_FAILS)
		checks_add(checks, CHECK_MISSING, "load", "%s",
			   words     ? words + 2
			   : *reason ? reason
				     : "the probe could not be started");
}

static void check_users(struct checks *checks)
{
	bool probe = getpwnam(TRACER_PROBE_USER), correlator = getpwnam(TRACER_CORRELATOR_USER);

	if (probe && correlator)
		checks_add(checks, CHECK_OK, "users", TRACER_CORRELATOR_USER " and " TRACER_PROBE_USER " exist");
	else
		check_fix(checks_add(checks, CHECK_LIMITED, "users",
				     "%s%s%s missing: tracer run uses nobody and daemon instead",
				     correlator ? "" : TRACER_CORRELATOR_USER, correlator || probe ? "" : " and ",
				     probe ? "" : TRACER_PROBE_USER),
			  "install the services, or create them by systemd-sysusers with sysusers.d/tracer.conf");
}

static void check_directory(struct checks *checks, const char *path)
{
	struct stat status;

	if (stat(path, &status) < 0)
		check_fix(checks_add(checks, CHECK_LIMITED, path, "%s: the daemons are not installed here",
				     strerror(errno)),
			  "install the services; tracer run works without them");
	else if (status.st_mode & S_IWOTH)
		check_fix(checks_add(checks, CHECK_MISSING, path, "writable by everyone"), "chmod o-w %s", path);
	else
		checks_add(checks, CHECK_OK, path, "mode %04o", status.st_mode & 07777);
}

/* Whether a daemon of this name runs; with this pid, unless 0. */
static bool daemon_runs(const char *name, pid_t pid)
{
	struct daemon_info daemons[DAEMONS_MAX];
	int count = daemons_find(daemons);

	for (int i = 0; i < count; i++)
		if ((pid == 0 || daemons[i].pid == pid) && strcmp(daemons[i].name, name) == 0)
			return true;
	return false;
}

/* What waits in the ring, also while no correlator takes it. Nothing is said without pins. */
static void check_ring(struct checks *checks, char *probe)
{
	char *argv[] = {probe, "--show-ring", NULL}, text[256] = "";
	int fd = memfd_create("tracer-doctor", MFD_CLOEXEC);
	pid_t pid = fd < 0 ? -1 : program_spawn(argv, fd, -1);
	long long waiting, size;

	if (pid > 0)
		waitpid(pid, NULL, 0);
	program_log_tail(fd, text, sizeof(text));
	if (fd >= 0)
		close(fd);
	if (sscanf(text, PROGRAM_PROBE ": %lld of %lld bytes wait", &waiting, &size) != 2)
		return;
	struct check *check =
		checks_add(checks, waiting > size / 2 ? CHECK_LIMITED : CHECK_OK, "ring",
			   "%s of %s wait for the correlator", units_bytes(waiting, false), units_bytes(size, false));

	if (check->level != CHECK_OK)
		check_fix(check,
			  "see tracer status: the correlator does not run, or is behind; what no longer fits is lost");
}

static void check_store(struct checks *checks, const char *path)
{
	struct store_error error;
	struct statvfs disk;
	struct store_stream stream;
	struct store *store;
	pid_t holder;

	if (store_open_reader(path, &store, &error) == 0) {
		checks_add(checks, CHECK_OK, "store", "%s can be read", path);
		holder = store_find_writer(path);
		/* Only a store that a correlator writes can be behind. */
		if (holder > 0 && daemon_runs(PROGRAM_CORRELATOR, holder) && store_read_stream(store, &stream) == 0)
			freshness_report(&stream, checks);
		store_close(store);
	} else {
		checks_add(checks, CHECK_LIMITED, "store", "%s", error.text);
		return;
	}
	if (statvfs(path, &disk) == 0) {
		int64_t free_bytes = (int64_t)(disk.f_bavail * disk.f_frsize);
		struct check *check = checks_add(checks, free_bytes < DISK_LEAST_BYTES ? CHECK_LIMITED : CHECK_OK,
						 "disk", "%s free for the store", units_bytes(free_bytes, false));

		if (check->level != CHECK_OK)
			check_fix(check, "free disk space, or keep less: tracer-correlator --retain DAYS");
	}
}

static int doctor_main(const struct options *options)
{
	static struct checks checks;
	enum load load = LOAD_NOT_TRIED;
	char probe[PATH_MAX], correlator[PATH_MAX], reason[256] = "";
	bool works;

	if (program_find(PROGRAM_PROBE, probe) < 0)
		probe[0] = '\0';
	else if (has_capabilities())
		load = probe_try(probe, reason, sizeof(reason));
	check_kernel(&checks, load);
	check_btf(&checks);
	check_lockdown(&checks);
	check_permission(&checks);
	check_cgroups(&checks);
	check_bpffs(&checks);
	check_accounting(&checks);
	check_network(&checks);
	check_peaks(&checks);
	check_threads(&checks);
	daemons_check_namespace(&checks, true);
	check_landlock(&checks);
	check_gpus(&checks);
	check_program(&checks, PROGRAM_PROBE, probe);
	check_load(&checks, load, reason);
	if (load != LOAD_NOT_TRIED)
		check_ring(&checks, probe);
	check_program(&checks, PROGRAM_CORRELATOR, program_find(PROGRAM_CORRELATOR, correlator) == 0 ? correlator : "");
	check_users(&checks);
	check_directory(&checks, TRACER_RUN_DIR);
	check_directory(&checks, TRACER_STATE_DIR);
	site_rules_check(rules, true, &checks);
	check_store(&checks, options_services_store_path(options));
	daemons_check_shipper(shipper, daemon_runs(PROGRAM_SHIPPER, 0), &checks, NULL);
	works = checks_work(&checks);
	checks_show(&checks, options->color, options->format, json_pack("{s:b}", "works", works));
	return works ? VERB_OK : VERB_FAILED;
}

const struct verb verb_doctor = {
	.name = "doctor",
	.summary = "check what works on this host, and how to fix the rest",
	.description = "Checks the kernel, permissions, mounts, users and programs, and changes\n"
		       "nothing. Each line is ok, limited (works, but not completely) or missing (does\n"
		       "not work), with the fix below it. As root, it also makes the probe load its\n"
		       "programs once. No compiler is needed at run time. Exit status 1 if anything is\n"
		       "missing.",
	.options = option_specs,
	.examples = "  sudo tracer doctor",
	.main = doctor_main,
};
