/* See sandbox.h. */
#include "shipper/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/capability.h>
#include <linux/landlock.h>
#include <seccomp.h>

#include "common/log.h"

#ifdef __SANITIZE_ADDRESS__
/* The sanitizer's check for leaks looks into /proc at the end: not from a sandbox. */
int __lsan_is_turned_off(void);
static int entered;

int __lsan_is_turned_off(void)
{
	return entered;
}
#endif

/* None is needed, and none can come back. One that runs as root, which the unit does not,
 * keeps the right to read a store that belongs to another user. */
static int capabilities_drop(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

	for (int number = 0; prctl(PR_CAPBSET_DROP, number, 0, 0, 0) == 0; number++)
		;
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (geteuid() == 0)
		data[0].effective = data[0].permitted = 1U << CAP_DAC_OVERRIDE;
	return syscall(SYS_capset, &header, data) ? -errno : 0;
}

#define READ (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define WRITE \
	(READ | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_FILE | \
	 LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_REMOVE_DIR)
/* Of the first version of Landlock; renames within a directory need no more. */
#define HANDLED ((LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1)

static int path_allow(int ruleset, const char *path, uint64_t access)
{
	struct landlock_path_beneath_attr rule = {.allowed_access = access};
	int error;

	rule.parent_fd = open(path, O_PATH | O_CLOEXEC);
	if (rule.parent_fd < 0)
		return errno == ENOENT || errno == EACCES ? 0 : -errno;
	error = syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) ? -errno : 0;
	close(rule.parent_fd);
	return error;
}

/* The directory that a file is in: the file itself may be replaced. */
static int directory_allow(int ruleset, const char *file)
{
	char directory[PATH_MAX];
	char *slash;

	if (!file || !strchr(file, '/'))
		return 0;
	snprintf(directory, sizeof(directory), "%s", file);
	slash = strrchr(directory, '/');
	slash[slash == directory] = '\0';
	return path_allow(ruleset, directory, READ);
}

static int paths_allow(int ruleset, const struct settings *settings)
{
	/* Names, certificates, time zones, libraries that name services load late. */
	static const char *const system[] = {"/etc", "/usr", "/lib", "/lib64", "/run/systemd/resolve",
					     "/proc/sys/kernel", "/dev/urandom", "/dev/null"};
	const char *const files[] = {settings->store, settings->lake_password_file,
				     settings->lake_token_file, settings->lake_ca_file,
				     settings->lake_certificate_file, settings->lake_key_file,
				     settings->lake_proxy_password_file};
	const char *credentials = getenv("CREDENTIALS_DIRECTORY");
	int error = 0;

	for (size_t i = 0; error == 0 && i < sizeof(system) / sizeof(system[0]); i++)
		error = path_allow(ruleset, system[i],
				   i < 5 ? READ : LANDLOCK_ACCESS_FS_READ_FILE);
	for (size_t i = 0; error == 0 && i < sizeof(files) / sizeof(files[0]); i++)
		error = directory_allow(ruleset, files[i]);
	if (error == 0 && credentials)
		error = path_allow(ruleset, credentials, READ);
	if (error == 0)
		error = path_allow(ruleset, settings->state, WRITE);
	if (error == 0 && settings->ndjson_directory)
		error = path_allow(ruleset, settings->ndjson_directory, WRITE);
	return error;
}

static int landlock_enter(const struct settings *settings)
{
	struct landlock_ruleset_attr rules = {.handled_access_fs = HANDLED};
	int ruleset = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof(rules), 0);
	int error;

	if (ruleset < 0)
		return errno == ENOSYS || errno == EOPNOTSUPP || errno == EPERM ? 0 : -errno;
	error = paths_allow(ruleset, settings);
	if (error == 0 && syscall(SYS_landlock_restrict_self, ruleset, 0))
		error = -errno;
	close(ruleset);
	return error;
}

/* A list of what is refused: what resolvers and TLS libraries need differs too much between
 * systems for a list of what is allowed. The unit has one. */
static int seccomp_enter(void)
{
	static const int refused[] = {
		SCMP_SYS(execve), SCMP_SYS(execveat), SCMP_SYS(ptrace), SCMP_SYS(process_vm_readv),
		SCMP_SYS(process_vm_writev), SCMP_SYS(bpf), SCMP_SYS(perf_event_open), SCMP_SYS(mount),
		SCMP_SYS(umount2), SCMP_SYS(pivot_root), SCMP_SYS(chroot), SCMP_SYS(setns),
		SCMP_SYS(unshare), SCMP_SYS(init_module), SCMP_SYS(finit_module), SCMP_SYS(kexec_load),
		SCMP_SYS(keyctl), SCMP_SYS(add_key), SCMP_SYS(request_key), SCMP_SYS(userfaultfd),
		SCMP_SYS(io_uring_setup), SCMP_SYS(open_by_handle_at), SCMP_SYS(kill),
	};
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	int error = filter ? 0 : -ENOMEM;

	for (size_t i = 0; error == 0 && i < sizeof(refused) / sizeof(refused[0]); i++)
		error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), refused[i], 0);
	if (error == 0)
		error = seccomp_load(filter);
	seccomp_release(filter);
	return error;
}

int sandbox_enter(const struct settings *settings)
{
	int error = 0;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		error = -errno;
	if (error == 0)
		error = capabilities_drop();
	if (error == 0)
		error = landlock_enter(settings);
	if (error == 0)
		error = seccomp_enter();
#ifdef __SANITIZE_ADDRESS__
	entered = 1;
#endif
	if (error < 0)
		log_error("cannot give privileges away: %s", strerror(-error));
	return error;
}
