/* Load, pin, attach, switch over. See kernel.h. */
#include "probe/kernel.h"

#include <dirent.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <linux/magic.h>

#include "bpf/tracer.skel.h"
#include "bpf/tracer_before_5_17.skel.h"
#include "bpf/tracer_before_6_2.skel.h"
#include "common/clock.h"
#include "common/log.h"
#include "probe/iterator.h"

#define PIN_PATH_SIZE 256
#define BPF_FILESYSTEM "/sys/fs/bpf"
#define BEFORE "before-"              /* and a number: a directory with the pins of another version */
#define FIRST_LEASE_NS 60000000000ULL /* until the loop renews it */
#define LRU_FREE_OF_CPU 128           /* entries that each processor may keep free for itself; fewer since 6.16 */

/* Maps that the next programs take over. All others (the ignore list, scratch) belong to
 * one load. */
#define LOSSES "losses"
#define CONTROL "control" /* last: if it is there without the ring, a replacement was interrupted */
static const char *const carried[] = {"ring", LOSSES, "groups", "traffic", "announced", CONTROL};
#define CARRIED_COUNT (sizeof(carried) / sizeof(carried[0]))

/* Pins
 *
 * Carried maps are in the pin directory, the hooks of each load in a subdirectory named
 * by its number. control.build says whose hooks collect. If a probe is killed before the
 * switch, the complete set of old hooks keeps working; after it, the set of new ones. */

/* A path that is too long becomes empty, so that it does not exist. */
static const char *pin_path(char path[PIN_PATH_SIZE], const char *directory, const char *name)
{
	if (snprintf(path, PIN_PATH_SIZE, "%s/%s", directory, name) >= PIN_PATH_SIZE)
		path[0] = '\0';
	return path;
}

static bool is_carried(const char *name)
{
	for (size_t i = 0; i < CARRIED_COUNT; i++)
		if (strcmp(name, carried[i]) == 0)
			return true;
	return false;
}

static bool is_before(const char *name)
{
	return strncmp(name, BEFORE, strlen(BEFORE)) == 0;
}

/* Removes the pins of all loads except `load`, or everything if it is NULL. Returns how
 * many were removed, or a negative errno. */
static int pins_remove(const char *directory, const char *load)
{
	DIR *entries = opendir(directory);
	struct dirent *entry;
	char path[PIN_PATH_SIZE];
	int removed = 0;

	if (!entries)
		return -errno;
	while (removed >= 0 && (entry = readdir(entries))) {
		const char *name = entry->d_name;

		if (name[0] == '.' || (load && (is_carried(name) || is_before(name) || strcmp(name, load) == 0)))
			continue;
		pin_path(path, directory, name);
		int below = entry->d_type == DT_DIR ? pins_remove(path, NULL) : 1;
		if (below >= 0 && remove(path) < 0)
			below = -errno;
		removed = below < 0 ? below : removed + below;
	}
	closedir(entries);
	return removed;
}

/* Users who can write to a directory can replace what is in it, except in one like /tmp, where they cannot replace what
 * belongs to others: its parent may be such a one. */
static bool is_own(int fd)
{
	struct stat own, parent;

	return fstat(fd, &own) == 0 && own.st_uid == geteuid() && !(own.st_mode & 022) &&
	       fstatat(fd, "..", &parent, 0) == 0 && (!(parent.st_mode & 022) || parent.st_mode & S_ISVTX);
}

/* Only one probe may read a ring: it holds a lock on the directory. */
static int pins_lock(const char *directory, int *ret_fd)
{
	struct statfs filesystem;
	bool made = mkdir(directory, 0700) == 0;

	if (!made && errno != EEXIST) {
		bool denied = errno == EACCES;

		log_error("cannot create the pin directory %s: %s; it must be on a BPF filesystem (mount -t bpf bpf "
			  "/sys/fs/bpf); set another with --pin-dir, or use --no-pin",
			  directory, strerror(errno));
		return denied ? -EPERM : -ENODEV;
	}
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd >= 0 && (fstatfs(fd, &filesystem) || filesystem.f_type != BPF_FS_MAGIC)) {
		close(fd);
		if (made)
			rmdir(directory);
		log_error("%s is not on a BPF filesystem; mount one (mount -t bpf bpf "
			  "/sys/fs/bpf), or use --no-pin",
			  directory);
		return -ENODEV;
	}
	if (fd < 0 || !is_own(fd)) {
		if (fd >= 0)
			close(fd);
		log_error(
			"the pin directory %s is a link, or others own it or may write to it: remove it, or use another "
			"--pin-dir",
			directory);
		return -EEXIST;
	}
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		close(fd);
		log_error("%s is in use by another tracer-probe; stop it first, or use another --pin-dir", directory);
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
	log_info("%s: removed %d pins; collection has stopped", pin_dir, result);
	return 0;
}

/* Maps */

/* Returns a descriptor of a pinned map, and its info, or -1. */
static int pin_open(const char *directory, const char *name, struct bpf_map_info *ret_info)
{
	char path[PIN_PATH_SIZE];
	uint32_t size = sizeof(*ret_info);
	int fd = bpf_obj_get(pin_path(path, directory, name));

	memset(ret_info, 0, sizeof(*ret_info));
	if (fd >= 0 && bpf_obj_get_info_by_fd(fd, ret_info, &size)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Only reads, so beside a probe that works and also when none does. */
int kernel_show_ring(const char *pin_dir)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct bpf_map_info info;
	int fd = pin_open(pin_dir, "ring", &info), error = errno;
	const uint64_t *positions[2] = {MAP_FAILED, MAP_FAILED}; /* of the consumer and the producer: ring.c */

	for (size_t i = 0; fd >= 0 && i < 2; i++) {
		positions[i] = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, (off_t)(i * page));
		error = errno;
	}
	if (positions[0] == MAP_FAILED || positions[1] == MAP_FAILED) {
		log_error("cannot read the ring in %s: %s", pin_dir, strerror(error));
		return -error;
	}
	log_info("%llu of %u bytes wait in the ring", (unsigned long long)(*positions[1] - *positions[0]),
		 info.max_entries);
	return 0;
}

/* Returns the pinned structure, mapped, or NULL. If it is of another version, only the first
 * fields, which are the same in every version, may be used. */
static struct control *control_open(const char *directory)
{
	struct bpf_map_info info;
	int fd = pin_open(directory, CONTROL, &info);
	void *control =
		fd < 0 ? MAP_FAILED : mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (fd >= 0)
		close(fd);
	return control == MAP_FAILED ? NULL : control;
}

static void control_close(struct control *control)
{
	if (control)
		munmap(control, sizeof(*control));
}

static bool is_pinned(const char *directory, const char *name)
{
	char path[PIN_PATH_SIZE];

	return access(pin_path(path, directory, name), F_OK) == 0;
}

/* Continue with what is pinned if it is of this version. Records of another version could not be
 * read: their ring keeps filling beside ours until ours takes over. A control without a ring was
 * left by a probe that was killed in here: its epoch must not be used for another ring. */
static int pins_take_over(const char *directory)
{
	struct control *control = control_open(directory);
	uint32_t version = control ? control->record_version : 0;
	char name[32], before[PIN_PATH_SIZE], from[PIN_PATH_SIZE], to[PIN_PATH_SIZE];

	control_close(control);
	if (version == 0 || (version == RECORD_VERSION && is_pinned(directory, "ring")))
		return 0;
	log_warning("%s: replacing the ring of a probe with record version %u", directory, version);
	snprintf(name, sizeof(name), BEFORE "%016llx", (unsigned long long)clock_boot_ns());
	if (mkdir(pin_path(before, directory, name), 0700))
		return -errno;
	for (size_t i = 0; i < CARRIED_COUNT; i++)
		if (strcmp(carried[i], LOSSES) != 0 && /* they keep growing */
		    rename(pin_path(from, directory, carried[i]), pin_path(to, before, carried[i])) && errno != ENOENT)
			return -errno;
	return 0;
}

/* Counts the records in a ring of another version, up to the time when ours took over, as lost:
 * the headers of all versions allow that. A record is freed as soon as it is counted, so that
 * a kill causes at most one to be counted twice. Returns the number of records. */
static unsigned long long ring_write_off(struct loss_slot *losses, const char *directory, uint64_t until_boot_ns)
{
	struct bpf_map_info info;
	struct ring ring = {0};
	const struct record_header *header;
	unsigned long long count = 0;
	uint64_t offset;
	size_t size;
	int fd = pin_open(directory, "ring", &info);

	if (fd < 0)
		return 0;
	if (ring_map(&ring, fd, info.max_entries) == 0)
		while (ring_next(&ring, (const void **)&header, &size, &offset)) {
			if (header->boot_ns >= until_boot_ns)
				continue;
			struct loss_slot *slot = &losses[LOSS_HASHED + header->type % 16];

			slot->type = header->type;
			slot->first_boot_ns = slot->first_boot_ns ? slot->first_boot_ns : header->boot_ns;
			slot->last_boot_ns = header->boot_ns;
			__atomic_fetch_add(&slot->count, 1, __ATOMIC_RELEASE);
			ring_free_before(&ring, offset + 1);
			count++;
		}
	ring_unmap(&ring);
	close(fd);
	return count;
}

/* Calls `visit` for each directory with the pins of another version. There are several if
 * successive upgrades were killed. */
static void befores_visit(const char *directory, void (*visit)(const char *before, void *context), void *context)
{
	DIR *entries = opendir(directory);
	struct dirent *entry;
	char before[PIN_PATH_SIZE];

	while (entries && (entry = readdir(entries)))
		if (is_before(entry->d_name))
			visit(pin_path(before, directory, entry->d_name), context);
	if (entries)
		closedir(entries);
}

/* The old programs read their own control. */
static void before_stop(const char *before, void *context)
{
	struct control *control = control_open(before);

	if (control)
		__atomic_store_n(&control->build, 0, __ATOMIC_RELEASE);
	control_close(control);
}

struct write_off {
	struct loss_slot *losses;
	uint64_t until_boot_ns;
};

static void before_write_off(const char *before, void *context)
{
	const struct write_off *write_off = context;

	log_warning("%s: %llu undelivered records of the previous version are counted as lost", before,
		    ring_write_off(write_off->losses, before, write_off->until_boot_ns));
	pins_remove(before, NULL);
	rmdir(before);
}

/* An existing ring keeps its size; any other map whose layout has changed is recreated. */
static void map_prepare(struct bpf_map *map, const char *directory)
{
	char path[PIN_PATH_SIZE];
	struct bpf_map_info info;
	int fd = pin_open(directory, bpf_map__name(map), &info);

	pin_path(path, directory, bpf_map__name(map));
	if (fd >= 0 && info.type == BPF_MAP_TYPE_RINGBUF)
		bpf_map__set_max_entries(map, info.max_entries);
	else if (fd >= 0 && (info.type != (uint32_t)bpf_map__type(map) || info.value_size != bpf_map__value_size(map) ||
			     info.key_size != bpf_map__key_size(map) || info.max_entries != bpf_map__max_entries(map)))
		unlink(path);
	if (fd >= 0)
		close(fd);
	bpf_map__set_pin_path(map, path); /* libbpf reuses an existing pin, or pins it there */
}

static void *map_shared(const struct bpf_map *map)
{
	size_t size = (size_t)bpf_map__value_size(map) * bpf_map__max_entries(map);
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

	return memory == MAP_FAILED ? NULL : memory;
}

/* Programs */

static bool btf_has(const struct btf *btf, const char *name, uint32_t kind)
{
	return btf__find_by_name_kind(btf, name, kind) > 0;
}

/* JITs learned it at different times. */
static bool has_atomic_exchange(void)
{
	const struct bpf_insn exchange[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K},
		{.code = BPF_STX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_10, .off = -8},
		{.code = BPF_STX | BPF_ATOMIC | BPF_DW, .dst_reg = BPF_REG_10, .off = -8, .imm = BPF_XCHG},
		{.code = BPF_JMP | BPF_EXIT},
	};
	int program = bpf_prog_load(BPF_PROG_TYPE_SOCKET_FILTER, NULL, "GPL", exchange, 4, NULL);

	close(program);
	return program >= 0;
}

/* All objects have the same maps and programs, under the same names: see bpf/variants.bpf.h. One names a structure that only
 * RHEL 8 has: libbpf would search all modules for it, which takes CAP_SYS_ADMIN, were the BTF not given. */
static void object_choose(struct bpf_object_skeleton *skeleton, struct bpf_object_open_opts *options,
			  const struct btf *kernel_btf)
{
	if (!btf_has(kernel_btf, "bpf_loop", BTF_KIND_FUNC) || !has_atomic_exchange()) {
		skeleton->data = (void *)tracer_before_5_17_bpf__elf_bytes(&skeleton->data_sz);
		options->btf_custom_path = "/sys/kernel/btf/vmlinux";
	} else if (!btf_has(kernel_btf, "bpf_rdonly_cast", BTF_KIND_FUNC)) {
		skeleton->data = (void *)tracer_before_6_2_bpf__elf_bytes(&skeleton->data_sz);
	}
}

static int programs_open(const struct btf *kernel_btf, struct tracer_bpf **ret_programs)
{
	LIBBPF_OPTS(bpf_object_open_opts, options);
	struct tracer_bpf *programs = calloc(1, sizeof(*programs));
	int result = programs ? tracer_bpf__create_skeleton(programs) : -ENOMEM;

	if (!result) {
		object_choose(programs->skeleton, &options, kernel_btf);
		result = bpf_object__open_skeleton(programs->skeleton, &options);
	}
	if (result)
		tracer_bpf__destroy(programs);
	else
		*ret_programs = programs;
	return result;
}

/* Not on every architecture, nor on every locked-down kernel. */
static bool function_is_traceable(int32_t btf_id)
{
	const struct bpf_insn nothing[] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K}, {.code = BPF_JMP | BPF_EXIT}};
	struct bpf_prog_load_opts options = {
		.sz = sizeof(options), .expected_attach_type = BPF_TRACE_FENTRY, .attach_btf_id = (uint32_t)btf_id};
	int program = bpf_prog_load(BPF_PROG_TYPE_TRACING, NULL, "GPL", nothing, 2, &options);
	int link = program < 0 ? -1 : bpf_link_create(program, 0, BPF_TRACE_FENTRY, NULL);

	close(link);
	close(program);
	return link >= 0;
}

/* Since 6.16 sched_process_exit, which then has a second argument, comes before the memory is released.
 * Before, that place is where the kernel calls taskstats_exit(task, ...). */
static void exit_hook_choose(struct bpf_program *on_exit, const struct btf *kernel_btf)
{
	static const char function[] = "taskstats_exit";
	const struct btf_type *type =
		btf__type_by_id(kernel_btf, (uint32_t)btf__find_by_name_kind(kernel_btf, "btf_trace_sched_process_exit",
									     BTF_KIND_TYPEDEF));
	int32_t btf_id = btf__find_by_name_kind(kernel_btf, function, BTF_KIND_FUNC);

	type = type ? btf__type_by_id(kernel_btf, type->type) : NULL; /* a pointer */
	type = type ? btf__type_by_id(kernel_btf, type->type) : NULL; /* to a function of (data, task, ...) */
	if (!type || btf_vlen(type) > 2 || btf_id < 0 || !function_is_traceable(btf_id))
		return;
	bpf_program__set_expected_attach_type(on_exit, BPF_TRACE_FENTRY);
	bpf_program__set_attach_target(on_exit, 0, function);
}

/* Programs that this kernel has no hooks for are not loaded: it would reject them. */
static void programs_choose(struct tracer_bpf *programs, const struct btf *kernel_btf,
			    const struct kernel_options *options)
{
	bool network = !options->no_network && /* since 6.3 */
		       btf_has(kernel_btf, "btf_trace_sock_recv_length", BTF_KIND_TYPEDEF);

	bpf_program__set_autoload(programs->progs.on_send, network);
	bpf_program__set_autoload(programs->progs.on_receive, network);
	programs->rodata->network = network;
	exit_hook_choose(programs->progs.on_exit, kernel_btf);
}

/* The kernel's BTF is several megabytes: it is read once for both decisions. */
static int programs_prepare(struct kernel *kernel, const struct kernel_options *options)
{
	struct btf *kernel_btf = btf__load_vmlinux_btf();

	if (!kernel_btf)
		return -errno;
	/* Iterators came with the ring, in 5.8. */
	int result = btf_has(kernel_btf, "bpf_ringbuf_output", BTF_KIND_FUNC)
			     ? programs_open(kernel_btf, &kernel->programs)
			     : -ENOTSUP;

	if (!result)
		programs_choose(kernel->programs, kernel_btf, options);
	btf__free(kernel_btf);
	return result;
}

static int iterators_keep(struct forward_source *source, const struct tracer_bpf *programs, const char *directory)
{
	source->iterator[0] = bpf_link__fd(programs->links.sample_tasks);
	source->iterator[1] = bpf_link__fd(programs->links.sample_files);
	source->iterators_are_files = iterator_needs_file(source->iterator[0]);
	for (int i = 0; source->iterators_are_files && i < 2; i++) {
		source->iterator[i] = iterator_file(source->iterator[i], directory);
		if (source->iterator[i] < 0)
			return source->iterator[i];
	}
	return 0;
}

/* Pins hooks if `directory` is given; iterators belong to this process alone. */
static int links_keep(struct kernel *kernel, const char *directory)
{
	struct tracer_bpf *programs = kernel->programs;
	const struct bpf_object_skeleton *all = programs->skeleton;
	char path[PIN_PATH_SIZE];
	int result = 0;

	for (int i = 0; directory && i < all->prog_cnt && !result; i++) {
		const struct bpf_prog_skeleton *program = (void *)((char *)all->progs + i * all->prog_skel_sz);

		if (*program->link && bpf_program__expected_attach_type(*program->prog) != BPF_TRACE_ITER)
			result = bpf_link__pin(*program->link, pin_path(path, directory, program->name));
	}
	return result ? result : iterators_keep(&kernel->source, programs, directory ? directory : BPF_FILESYSTEM);
}

static int ignore_set(struct tracer_bpf *programs, struct control *control, const struct kernel_options *options)
{
	uint32_t yes = 1, kinds = 0;

	for (uint32_t i = 0; i < options->ignore_count; i++) {
		if (bpf_map_update_elem(bpf_map__fd(programs->maps.ignored), &options->ignore[i], &yes, BPF_ANY))
			return -errno;
		kinds |= 1U << options->ignore[i].kind;
	}
	control->ignore_kinds = kinds;
	return 0;
}

/* The last in a list such as "0-1" or "0,8" is the highest. */
static uint32_t numa_node_count(void)
{
	FILE *file = fopen("/sys/devices/system/node/possible", "re");
	unsigned highest = 0;

	while (file && fscanf(file, "%u%*[-,]", &highest) == 1)
		;
	if (file)
		fclose(file);
	return highest + 1;
}

static int kernel_load(struct kernel *kernel, const struct kernel_options *options)
{
	struct tracer_bpf *programs = kernel->programs;
	struct bpf_map *announced = programs->maps.announced;
	int cpus = libbpf_num_possible_cpus();

	if (cpus < 0)
		return cpus;

	programs->rodata->build = clock_boot_ns(); /* unique to each load of a boot */
	programs->rodata->page_size = (uint32_t)sysconf(_SC_PAGESIZE);
	programs->rodata->node_count = numa_node_count();
	bpf_map__set_max_entries(programs->maps.ring, options->ring_bytes);
	bpf_map__set_max_entries(announced, bpf_map__max_entries(announced) + (uint32_t)cpus * LRU_FREE_OF_CPU);
	for (size_t i = 0; options->pin_dir && i < CARRIED_COUNT; i++)
		map_prepare(bpf_object__find_map_by_name(programs->obj, carried[i]), options->pin_dir);
	int result = tracer_bpf__load(programs);
	if (result)
		return result;
	kernel->source.control = map_shared(programs->maps.control);
	kernel->source.losses = map_shared(programs->maps.losses);
	kernel->source.device_majors = (uint32_t *)programs->bss->device_majors;
	kernel->source.devices = options->devices;
	kernel->source.devices_fd = open("/proc/devices", O_RDONLY | O_CLOEXEC);
	if (!kernel->source.control || !kernel->source.losses)
		return -ENOMEM;
	return ring_map(&kernel->source.ring, bpf_map__fd(programs->maps.ring),
			bpf_map__max_entries(programs->maps.ring));
}

/* From the store to control->build on, our programs collect, and no others. */
static int kernel_switch(struct kernel *kernel, const struct kernel_options *options)
{
	struct tracer_bpf *programs = kernel->programs;
	struct control *control = kernel->source.control;
	char load[24], directory[PIN_PATH_SIZE];

	if (control->record_version == RECORD_VERSION)
		log_info("%s: continuing with the existing ring, %llu bytes to deliver; new programs replace "
			 "the old ones",
			 options->pin_dir, (unsigned long long)ring_backlog_bytes(&kernel->source.ring));
	snprintf(load, sizeof(load), "%016llx", (unsigned long long)programs->rodata->build);
	if (options->pin_dir)
		pin_path(directory, options->pin_dir, load);
	control->record_version = RECORD_VERSION;
	if (control->lease_boot_ns < clock_boot_ns() + FIRST_LEASE_NS)
		control->lease_boot_ns = clock_boot_ns() + FIRST_LEASE_NS;
	while (control->ring_epoch == 0)
		if (getrandom(&control->ring_epoch, sizeof(control->ring_epoch), 0) < 0)
			return -errno;
	int result = tracer_bpf__attach(programs);
	if (!result)
		result = links_keep(kernel, options->pin_dir ? directory : NULL);
	if (!result)
		result = ignore_set(programs, control, options);
	if (result)
		return result;
	__atomic_store_n(&control->build, programs->rodata->build, __ATOMIC_RELEASE);
	if (!options->pin_dir)
		return 0;
	/* Our programs report whatever begins from here on, even if others report it too. */
	struct write_off write_off = {kernel->source.losses, clock_boot_ns()};

	befores_visit(options->pin_dir, before_stop, NULL);
	result = pins_remove(options->pin_dir, load);
	if (result >= 0)
		befores_visit(options->pin_dir, before_write_off, &write_off);
	return result < 0 ? result : 0;
}

static bool is_locked_down(void)
{
	char line[128] = "";
	FILE *file = fopen("/sys/kernel/security/lockdown", "re");

	if (file && !fgets(line, sizeof(line), file))
		line[0] = '\0';
	if (file)
		fclose(file);
	return strstr(line, "[confidentiality]");
}

static void log_load_failure(int error)
{
	if (is_locked_down())
		log_error("this kernel is locked down (confidentiality): BPF programs may not read its memory; "
			  "boot with lockdown=integrity, or without lockdown");
	else if (error == -ENOTSUP)
		log_error("this kernel has no BPF ring: the probe needs Linux 5.10 or newer");
	else if (error == -ENODEV)
		log_error("no BPF filesystem at /sys/fs/bpf, which scans need on this kernel; mount one "
			  "(mount -t bpf bpf /sys/fs/bpf)");
	else if (error == -ESRCH)
		log_error("this kernel has no BTF (/sys/kernel/btf/vmlinux); one built with "
			  "CONFIG_DEBUG_INFO_BTF is required");
	else if (error == -EPERM) /* EACCES comes from the verifier */
		log_error("no permission to load BPF programs; run as root, or with CAP_BPF and "
			  "CAP_PERFMON");
	else
		log_error("cannot load, attach or pin the BPF programs: %s; tracer doctor shows "
			  "what is missing, --debug the kernel's messages",
			  strerror(-error));
}

int kernel_open(struct kernel *kernel, const struct kernel_options *options)
{
	*kernel = (struct kernel){.lock = -1, .source.devices_fd = -1};
	if (!log_is_wanted(LOG_LEVEL_DEBUG))
		libbpf_set_print(NULL); /* it prints the verifier's output */
	int result = options->pin_dir ? pins_lock(options->pin_dir, &kernel->lock) : 0;
	if (result)
		return result;
	result = programs_prepare(kernel, options);
	if (!result && options->pin_dir)
		result = pins_take_over(options->pin_dir);
	if (!result)
		result = kernel_load(kernel, options);
	if (!result)
		result = kernel_switch(kernel, options);
	if (result)
		log_load_failure(result);
	if (result && options->pin_dir)
		rmdir(options->pin_dir); /* stays if something is pinned in it */
	if (result)
		kernel_close(kernel);
	return result;
}

void kernel_close(struct kernel *kernel)
{
	ring_unmap(&kernel->source.ring);
	tracer_bpf__destroy(kernel->programs); /* pinned programs keep running */
	if (kernel->source.devices_fd >= 0)
		close(kernel->source.devices_fd);
	if (kernel->lock >= 0)
		close(kernel->lock);
}
