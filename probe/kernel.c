/* Load, attach, pin, take over. See kernel.h. */
#include "probe/kernel.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <linux/magic.h>

#include "bpf/tracer.skel.h"
#include "common/identity.h"
#include "common/log.h"
#include "probe/clock.h"

#define PIN_PATH_SIZE 256

/* Maps that go over to the next build, if its records are of the same version. */
enum map { MAP_RING, MAP_CONTROL, MAP_LOSSES, MAP_GROUPS, MAP_IGNORED, MAPS };
#define MAPS_CARRIED MAP_IGNORED

static const char *const map_names[MAPS] = {"ring", "control", "losses", "groups", "ignored"};
static const char *const hook_names[KERNEL_HOOKS] = {"fork", "exec", "exit", "free",
						     "signal", "send", "receive"};
static const char *const iterator_names[KERNEL_ITERATORS] = {"sample", "devices"};

/* What libbpf says, the verifier's reasons among it, for --debug. */
static int libbpf_log(enum libbpf_print_level level, const char *format, va_list arguments)
{
	char *text, *rest, *line;

	if (vasprintf(&text, format, arguments) < 0)
		return 0;
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		log_debug("%s", line);
	free(text);
	return 0;
}

/* Is there a function type with so many parameters behind this tracepoint? */
static bool tracepoint_has_parameters(const struct btf *btf, const char *name, int count)
{
	int id = btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF);

	if (id < 0)
		return false;
	const struct btf_type *pointer = btf__type_by_id(btf, btf__type_by_id(btf, id)->type);
	if (!pointer || !btf_is_ptr(pointer))
		return false;
	const struct btf_type *function = btf__type_by_id(btf, pointer->type);
	return function && btf_is_func_proto(function) && btf_vlen(function) >= count;
}

static bool has_helper(const struct btf *btf, const char *name)
{
	int id = btf__find_by_name_kind(btf, "bpf_func_id", BTF_KIND_ENUM);

	if (id < 0)
		return false;
	const struct btf_type *type = btf__type_by_id(btf, id);
	const struct btf_enum *value = btf_enum(type);
	for (int i = 0; i < btf_vlen(type); i++) {
		if (strcmp(btf__name_by_offset(btf, value[i].name_off), name) == 0)
			return true;
	}
	return false;
}

int kernel_variants_read(struct kernel_variants *ret_variants)
{
	struct btf *btf = btf__load_vmlinux_btf();

	if (libbpf_get_error(btf))
		return -ENOENT;
	/* The first parameter is the tracepoint's own. */
	*ret_variants = (struct kernel_variants){
		.exit_group_dead =
			tracepoint_has_parameters(btf, "btf_trace_sched_process_exit", 3),
		.iterator_waits = has_helper(btf, "BPF_FUNC_copy_from_user_task"),
		.network = tracepoint_has_parameters(btf, "btf_trace_sock_recv_length", 4),
	};
	btf__free(btf);
	return 0;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void close_fds(int *fds, int count)
{
	for (int i = 0; i < count; i++)
		close_fd(&fds[i]);
}

/* Of the programs as they would be loaded now. */
static uint64_t build_id(const struct kernel *kernel)
{
	struct identity identity;
	size_t size;
	const void *object = tracer_bpf__elf_bytes(&size);

	identity_begin(&identity, "bpf");
	identity_add_bytes(&identity, object, size);
	identity_add_bytes(&identity, &kernel->variants.network, sizeof(bool));
	identity_add_bytes(&identity, &kernel->devices, sizeof(kernel->devices));
	return (uint64_t)identity_end(&identity);
}

/* Pins
 *
 * What goes over to the next build lies in the pin directory; programs, and what is theirs
 * alone, in a directory below it that bears the number of their build. control.build says
 * whose programs collect: one store replaces all of them. A probe that is killed before it
 * leaves the old ones at work, complete, and one that is killed after it the new ones. */

/* One that is too long is empty, and so nowhere. */
static void pin_path(char path[PIN_PATH_SIZE], const char *directory, const char *name)
{
	if (snprintf(path, PIN_PATH_SIZE, "%s/%s", directory, name) >= PIN_PATH_SIZE)
		path[0] = '\0';
}

static void build_path(char path[PIN_PATH_SIZE], const char *directory, uint64_t build)
{
	snprintf(path, PIN_PATH_SIZE, "%s/%016llx", directory, (unsigned long long)build);
}

static int pin_open(const char *directory, const char *name)
{
	char path[PIN_PATH_SIZE];

	pin_path(path, directory, name);
	int fd = bpf_obj_get(path);
	return fd < 0 ? -errno : fd;
}

/* All of them, or -ENOENT and none. */
static int pins_open(const char *directory, const char *const *names, int *ret_fds, int count)
{
	for (int i = 0; i < count; i++) {
		ret_fds[i] = pin_open(directory, names[i]);
		if (ret_fds[i] < 0) {
			close_fds(ret_fds, i);
			return -ENOENT;
		}
	}
	return 0;
}

/* What is there already is one of the maps that are carried on. */
static int pins_put(const char *directory, const char *const *names, const int *fds, int count)
{
	char path[PIN_PATH_SIZE];

	for (int i = 0; i < count; i++) {
		pin_path(path, directory, names[i]);
		if (fds[i] >= 0 && bpf_obj_pin(fds[i], path) && errno != EEXIST)
			return -errno;
	}
	return 0;
}

static bool is_carried(const char *name)
{
	for (int i = 0; i < MAPS_CARRIED; i++)
		if (strcmp(name, map_names[i]) == 0)
			return true;
	return false;
}

/* Removes the pins of other builds than that, whose path is given, or for NULL everything.
 * How many, or a negative errno. */
static int pins_remove(const char *directory, const char *build)
{
	DIR *entries = opendir(directory);
	struct dirent *entry;
	char path[PIN_PATH_SIZE];
	int removed = 0;

	if (!entries)
		return -errno;
	while (removed >= 0 && (entry = readdir(entries))) {
		pin_path(path, directory, entry->d_name);
		if (entry->d_name[0] == '.' ||
		    (build && (is_carried(entry->d_name) || strcmp(path, build) == 0)))
			continue;
		int below = entry->d_type == DT_DIR ? pins_remove(path, NULL) : 1;

		if (below >= 0 && remove(path) < 0)
			below = -errno;
		removed = below < 0 ? below : removed + below;
	}
	closedir(entries);
	return removed;
}

/* Only one probe may read a ring: it holds a lock on the directory. */
static int pins_lock(const char *directory, int *ret_fd)
{
	struct statfs filesystem;

	if (mkdir(directory, 0700) && errno != EEXIST) {
		int error = errno;

		log_error("cannot make the pin directory %s: %s; give another with --pin-dir, or "
			  "start with --no-pin", directory, strerror(error));
		return -error;
	}
	if (statfs(directory, &filesystem) || filesystem.f_type != BPF_FS_MAGIC) {
		rmdir(directory);
		log_error("%s is not on a BPF filesystem; mount one (mount -t bpf bpf "
			  "/sys/fs/bpf), or start with --no-pin", directory);
		return -ENOTSUP;
	}
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		close(fd);
		log_error("another tracer-probe has %s; stop it first, or give another --pin-dir",
			  directory);
		return -EBUSY;
	}
	*ret_fd = fd;
	return 0;
}

int kernel_detach(const char *pin_dir)
{
	int lock;
	int result = pins_lock(pin_dir, &lock);

	if (result)
		return result;
	result = pins_remove(pin_dir, NULL);
	close(lock);
	if (result < 0) {
		log_error("cannot remove the pins in %s: %s", pin_dir, strerror(-result));
		return result;
	}
	rmdir(pin_dir);
	log_info("%s: %d pins removed, nothing is collected any more", pin_dir, result);
	return 0;
}

/* Maps */

static void *map_shared(int fd, size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static size_t losses_size(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (sizeof(struct loss_slot) * LOSS_SLOTS + page - 1) / page * page;
}

static int kernel_map(struct kernel *kernel, const int maps[MAPS])
{
	struct bpf_map_info info = {0};
	uint32_t size = sizeof(info);

	if (bpf_obj_get_info_by_fd(maps[MAP_RING], &info, &size))
		return -errno;
	kernel->control = map_shared(maps[MAP_CONTROL], (size_t)sysconf(_SC_PAGESIZE));
	kernel->losses = map_shared(maps[MAP_LOSSES], losses_size());
	if (!kernel->control || !kernel->losses)
		return -errno;
	return ring_map(&kernel->ring, maps[MAP_RING], info.max_entries);
}

static void kernel_unmap(struct kernel *kernel)
{
	ring_unmap(&kernel->ring);
	if (kernel->control)
		munmap(kernel->control, (size_t)sysconf(_SC_PAGESIZE));
	if (kernel->losses)
		munmap(kernel->losses, losses_size());
	kernel->control = NULL;
	kernel->losses = NULL;
}

static int ignore_set(int map_fd, struct control *control, const struct kernel_options *options)
{
	struct ignore_key key;
	uint32_t yes = 1, kinds = 0;

	while (bpf_map_get_next_key(map_fd, NULL, &key) == 0)
		bpf_map_delete_elem(map_fd, &key);
	for (uint32_t i = 0; i < options->ignore_count; i++) {
		if (bpf_map_update_elem(map_fd, &options->ignore[i], &yes, BPF_ANY))
			return -errno;
		kinds |= 1U << options->ignore[i].kind;
	}
	control->ignore_kinds = kinds;
	return 0;
}

/* Programs */

static void programs_choose(struct tracer_bpf *skeleton, const struct kernel_variants *variants)
{
	bpf_program__set_autoload(skeleton->progs.on_send, variants->network);
	bpf_program__set_autoload(skeleton->progs.on_receive, variants->network);
}

/* Attach one program and keep a descriptor of its link. */
static int program_attach(struct bpf_program *program, int *ret_fd)
{
	struct bpf_link *link = bpf_program__attach(program);
	int error = (int)libbpf_get_error(link);

	if (error) {
		log_debug("cannot attach %s: %s", bpf_program__name(program), strerror(-error));
		return error;
	}
	*ret_fd = fcntl(bpf_link__fd(link), F_DUPFD_CLOEXEC, 3);
	error = *ret_fd < 0 ? -errno : 0;
	bpf_link__destroy(link);
	return error;
}

static int hook_count(const struct kernel *kernel)
{
	return kernel->variants.network ? KERNEL_HOOKS : KERNEL_SEND;
}

static int programs_attach(struct tracer_bpf *skeleton, struct kernel *kernel)
{
	struct bpf_program *hooks[KERNEL_HOOKS] = {
		skeleton->progs.on_fork,
		skeleton->progs.on_exec,
		skeleton->progs.on_exit,
		skeleton->progs.on_free,
		skeleton->progs.on_signal,
		skeleton->progs.on_send,
		skeleton->progs.on_receive,
	};
	int result = program_attach(skeleton->progs.sample_tasks,
				    &kernel->iterator[KERNEL_SAMPLE]);

	if (!result)
		result = program_attach(skeleton->progs.sample_files,
					&kernel->iterator[KERNEL_DEVICES]);
	for (int i = 0; i < hook_count(kernel) && !result; i++)
		result = program_attach(hooks[i], &kernel->hook[i]);
	return result;
}

/* The pins hold the hooks from now on, not this process. */
static int kernel_pin(struct kernel *kernel, const int maps[MAPS], const char *directory)
{
	char build[PIN_PATH_SIZE];

	build_path(build, directory, build_id(kernel));
	int result = pins_put(directory, map_names, maps, MAPS_CARRIED);

	if (!result && mkdir(build, 0700) && errno != EEXIST)
		result = -errno;
	if (!result && pins_remove(build, NULL) < 0) /* of a start that was killed */
		result = -EPERM;
	if (!result)
		result = pins_put(build, &map_names[MAP_IGNORED], &maps[MAP_IGNORED], 1);
	if (!result)
		result = pins_put(build, iterator_names, kernel->iterator, KERNEL_ITERATORS);
	if (!result)
		result = pins_put(build, hook_names, kernel->hook, KERNEL_HOOKS);
	if (result)
		log_error("cannot pin into %s: %s; start with --no-pin to do without", directory,
			  strerror(-result));
	else
		close_fds(kernel->hook, KERNEL_HOOKS);
	return result;
}

/* From now on ours collect, and nobody else's. */
static void kernel_switch(struct kernel *kernel)
{
	__atomic_store_n(&kernel->control->build, build_id(kernel), __ATOMIC_RELEASE);
}

/* Collecting begins before the loop renews the lease. */
#define FIRST_LEASE_NS 60000000000ULL

static int control_begin(struct control *control)
{
	control->record_version = RECORD_VERSION;
	control->lease_boot_ns = clock_boot_ns() + FIRST_LEASE_NS;
	while (control->ring_epoch == 0) {
		if (getrandom(&control->ring_epoch, sizeof(control->ring_epoch), 0) < 0)
			return -errno;
	}
	return 0;
}

static int maps_carry(struct tracer_bpf *skeleton, const int maps[MAPS])
{
	struct bpf_map *carried[MAPS_CARRIED] = {
		skeleton->maps.ring, skeleton->maps.control, skeleton->maps.losses,
		skeleton->maps.groups};

	for (int i = 0; i < MAPS_CARRIED; i++) {
		int result = maps[i] >= 0 ? bpf_map__reuse_fd(carried[i], maps[i]) : 0;

		if (result)
			return result;
	}
	return 0;
}

/* Descriptors that outlive the skeleton. */
static int maps_keep(struct tracer_bpf *skeleton, int maps[MAPS])
{
	struct bpf_map *kept[MAPS] = {skeleton->maps.ring, skeleton->maps.control,
				      skeleton->maps.losses, skeleton->maps.groups,
				      skeleton->maps.ignored};

	for (int i = 0; i < MAPS; i++) {
		if (maps[i] < 0)
			maps[i] = fcntl(bpf_map__fd(kept[i]), F_DUPFD_CLOEXEC, 3);
		if (maps[i] < 0)
			return -errno;
	}
	return 0;
}

static void log_load_failure(int error)
{
	if (error == -EPERM) /* EACCES is the verifier's */
		log_error("no permission to load BPF programs; run as root, or with CAP_BPF and "
			  "CAP_PERFMON");
	else
		log_error("the kernel refuses the BPF programs: %s; tracer-probe --check tells "
			  "what is missing", strerror(-error));
}

/* `maps`: those to go on with, -1 for those to make. The programs attach, and wait for
 * kernel_switch: nothing is missed or told twice. */
static int kernel_load(struct kernel *kernel, const struct kernel_options *options,
		       int maps[MAPS])
{
	struct tracer_bpf *skeleton = tracer_bpf__open();

	if (!skeleton) {
		log_error("cannot open the BPF object: %s", strerror(errno));
		return -errno;
	}
	programs_choose(skeleton, &kernel->variants);
	skeleton->rodata->build = build_id(kernel);
	skeleton->rodata->network = kernel->variants.network;
	memcpy((void *)skeleton->rodata->device_majors, kernel->devices.major,
	       sizeof(kernel->devices.major));
	skeleton->rodata->page_size = (uint32_t)sysconf(_SC_PAGESIZE);
	if (maps[MAP_RING] < 0)
		bpf_map__set_max_entries(skeleton->maps.ring, options->ring_bytes);

	int result = maps_carry(skeleton, maps);
	if (!result)
		result = tracer_bpf__load(skeleton);
	if (!result)
		result = maps_keep(skeleton, maps);
	if (!result && !kernel->control)
		result = kernel_map(kernel, maps);
	if (!result)
		result = control_begin(kernel->control);
	if (!result)
		result = programs_attach(skeleton, kernel);
	if (!result)
		result = ignore_set(maps[MAP_IGNORED], kernel->control, options);
	if (result)
		log_load_failure(result);
	tracer_bpf__destroy(skeleton);
	return result;
}

/* 1: the pinned programs are ours and go on. 0: load; `maps` has what is to be carried
 * on, or -1. */
static int kernel_take_over(struct kernel *kernel, const struct kernel_options *options,
			    int maps[MAPS])
{
	const char *directory = options->pin_dir;
	int hooks[KERNEL_HOOKS];
	char build[PIN_PATH_SIZE];

	build_path(build, directory, build_id(kernel));
	if (pins_open(directory, map_names, maps, MAPS_CARRIED))
		return pins_remove(directory, NULL) < 0 ? -EPERM : 0;
	int result = kernel_map(kernel, maps);
	if (result)
		return result;
	if (kernel->control->record_version != RECORD_VERSION) {
		log_warning("%s: the ring of a probe with record version %u is replaced; "
			    "%llu bytes in it were not delivered", directory,
			    kernel->control->record_version,
			    (unsigned long long)(*kernel->ring.producer - *kernel->ring.consumer));
		kernel_unmap(kernel);
		close_fds(maps, MAPS_CARRIED);
		return pins_remove(directory, NULL) < 0 ? -EPERM : 0;
	}
	bool same = kernel->control->build == build_id(kernel) &&
		    pins_open(build, hook_names, hooks, hook_count(kernel)) == 0;
	if (same) {
		close_fds(hooks, hook_count(kernel));
		same = pins_open(build, iterator_names, kernel->iterator,
				 KERNEL_ITERATORS) == 0 &&
		       pins_open(build, &map_names[MAP_IGNORED], &maps[MAP_IGNORED], 1) == 0;
	}
	log_info("%s: going on with the ring, %llu bytes to deliver%s", directory,
		 (unsigned long long)(*kernel->ring.producer - *kernel->ring.consumer),
		 same ? "" : "; programs of another build are replaced");
	if (!same) {
		close_fds(kernel->iterator, KERNEL_ITERATORS);
		return 0;
	}
	result = ignore_set(maps[MAP_IGNORED], kernel->control, options);
	return result ? result : 1;
}

int kernel_open(struct kernel *kernel, const struct kernel_options *options)
{
	int maps[MAPS] = {-1, -1, -1, -1, -1};
	char build[PIN_PATH_SIZE];

	*kernel = (struct kernel){.hook = {-1, -1, -1, -1, -1, -1, -1}, .iterator = {-1, -1},
				   .devices = options->devices, .lock = -1};
	libbpf_set_print(libbpf_log);
	int result = kernel_variants_read(&kernel->variants);
	if (result) {
		log_error("this kernel has no BTF (/sys/kernel/btf/vmlinux); one built with "
			  "CONFIG_DEBUG_INFO_BTF is needed");
		return result;
	}
	kernel->variants.network &= !options->no_network;
	device_majors_find(&kernel->devices);
	result = options->pin_dir ? pins_lock(options->pin_dir, &kernel->lock) : 0;
	if (!result && options->pin_dir)
		result = kernel_take_over(kernel, options, maps);
	if (!result) {
		result = kernel_load(kernel, options, maps);
		if (!result && options->pin_dir)
			result = kernel_pin(kernel, maps, options->pin_dir);
		if (!result)
			kernel_switch(kernel);
	}
	if (result >= 0 && options->pin_dir) {
		build_path(build, options->pin_dir, build_id(kernel));
		result = pins_remove(options->pin_dir, build);
	}
	close_fds(maps, MAPS);
	if (result < 0 && kernel->lock >= 0)
		rmdir(options->pin_dir); /* stays where something is pinned in it */
	if (result < 0)
		kernel_close(kernel);
	return result < 0 ? result : 0;
}

void kernel_close(struct kernel *kernel)
{
	kernel_unmap(kernel);
	close_fds(kernel->hook, KERNEL_HOOKS);
	close_fds(kernel->iterator, KERNEL_ITERATORS);
	close_fd(&kernel->lock);
}
