/* See drm.h. */
#include "sampler/drm.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"
#include "sampler/fdinfo.h"
#include "sampler/start.h"

#define CLIENTS_MAX 1024 /* at a time; of further ones nothing is reported */
#define PIDS_MAX 1024    /* processes that hold a device; the same */
#define OTHERS_MAX 65536 /* processes that hold none; further ones are read in every search */
#define FILE_MAX 4096
#define PATH_SIZE 512
#define SEARCH_NS (10 * UINT64_C(1000000000))
#define UNCHANGED_MAX_NS (40 * UINT64_C(1000000000)) /* with a search's period, below INTERVAL_MAX_NS */
#define INTERVAL_MAX_NS (60 * UINT64_C(1000000000))

struct device {
	unsigned number; /* of dri/renderD128 */
	char pci_address[FDINFO_NAME_SIZE], driver[FDINFO_NAME_SIZE];
};

/* One opening of a device, as it was when it was last read. */
struct client {
	const struct device *device;
	uint64_t id;
	struct fdinfo_engine engines[FDINFO_ENGINES_MAX];
	unsigned engine_count;
	uint64_t read_boot_ns;
};

/* A process that held no device when it was last read. As long as it has as many descriptors, it is not read again: to
 * open and read one takes the kernel some 10 µs, and few processes hold a device. */
struct other {
	uint32_t pid;
	uint32_t descriptor_count; /* 0: unknown, before Linux 6.2 */
	uint64_t read_boot_ns;
};

/* By pid, as /proc lists them. */
struct others {
	struct other of[OTHERS_MAX];
	unsigned count;
};

struct drm {
	struct device devices[LINK_DEVICES_MAX];
	unsigned device_count;
	struct client clients[CLIENTS_MAX];
	unsigned client_count;
	uint32_t pids[PIDS_MAX];
	unsigned pid_count;
	struct others others[2]; /* of the last search, and of the one before or in progress */
	unsigned latest_others;
	uint64_t search_boot_ns; /* of the last complete search through all processes, 0: none yet */
	uint64_t now_boot_ns;    /* of this round */
};

const char *drm_root = "";

/* ---- devices */

/* The last part of the path that a link has. */
static bool read_link_name(const char *path, char *name, size_t size)
{
	char target[PATH_SIZE];
	ssize_t length = readlink(path, target, sizeof(target) - 1);

	if (length <= 0)
		return false;
	target[length] = '\0';
	const char *last = strrchr(target, '/');

	return (size_t)snprintf(name, size, "%s", last ? last + 1 : target) < size;
}

/* All but those with NVIDIA's own driver, which have a sampler of their own: what both report would add up. */
static void find_devices(struct drm *drm)
{
	char path[PATH_SIZE];
	struct dirent *entry;

	snprintf(path, sizeof(path), "%s/sys/class/drm", drm_root);
	DIR *directory = opendir(path);

	while (directory && drm->device_count < LINK_DEVICES_MAX && (entry = readdir(directory))) {
		struct device *device = &drm->devices[drm->device_count];

		*device = (struct device){0};
		if (sscanf(entry->d_name, "renderD%u", &device->number) != 1 || device->number > 9999)
			continue;
		snprintf(path, sizeof(path), "%s/sys/class/drm/%s/device", drm_root, entry->d_name);
		if (!read_link_name(path, device->pci_address, sizeof(device->pci_address)))
			continue;
		snprintf(path, sizeof(path), "%s/sys/class/drm/%s/device/driver", drm_root, entry->d_name);
		drm->device_count += read_link_name(path, device->driver, sizeof(device->driver)) &&
				     strcmp(device->driver, "nvidia") != 0;
	}
	if (directory)
		closedir(directory);
}

void *drm_open(void)
{
	struct drm *drm = calloc(1, sizeof(*drm));

	if (!drm)
		return NULL;
	find_devices(drm);
	for (unsigned i = 0; i < drm->device_count; i++)
		log_info("dri/renderD%u: %s", drm->devices[i].number, drm->devices[i].driver);
	if (drm->device_count)
		return drm;
	log_error("%s/sys/class/drm has no device that renders or computes", drm_root);
	free(drm);
	return NULL;
}

void drm_close(void *drm)
{
	free(drm);
}

void drm_describe(const void *devices, struct link *link)
{
	const struct drm *drm = devices;

	link->driver = "of the kernel";
	for (unsigned i = 0; i < drm->device_count; i++)
		link->numbers[link->device_count++] = drm->devices[i].number;
}

/* By its PCI address. Devices without one are known by their driver, if there is one such device. */
static const struct device *device_of(const struct drm *drm, const struct fdinfo *info)
{
	const struct device *found = NULL;

	for (unsigned i = 0; i < drm->device_count; i++) {
		const struct device *device = &drm->devices[i];

		if (info->pci_address[0] ? strcmp(device->pci_address, info->pci_address) != 0
					 : strcmp(device->driver, info->driver) != 0)
			continue;
		if (found)
			return NULL;
		found = device;
	}
	return found;
}

/* ---- clients */

static uint64_t grown(uint64_t before, uint64_t now)
{
	return now > before ? now - before : 0;
}

/* How long this kind of engine worked for the client. Several engines of a kind may work at once: their mean counts. */
static uint64_t engine_ns(const struct client *client, const struct fdinfo_engine *now, uint64_t interval_ns)
{
	static const struct fdinfo_engine none;
	const struct fdinfo_engine *before = &none;
	uint64_t busy_ns = 0;

	for (unsigned i = 0; i < client->engine_count; i++)
		if (strcmp(client->engines[i].name, now->name) == 0)
			before = &client->engines[i];
	if (now->has_ns) {
		busy_ns = grown(before->busy_ns, now->busy_ns);
	} else if (now->has_cycles && before->has_cycles && now->all_cycles > before->all_cycles) {
		double share = (double)grown(before->busy_cycles, now->busy_cycles) /
			       (double)(now->all_cycles - before->all_cycles);

		busy_ns = share < 1 ? (uint64_t)(share * (double)interval_ns) : interval_ns;
	}
	busy_ns /= now->capacity;
	return busy_ns < interval_ns ? busy_ns : interval_ns;
}

/* Engines work side by side, so the kind that worked longest counts, not their sum. */
static void add_client(struct client *client, const struct fdinfo *info, struct link_use *use)
{
	uint64_t most_ns = 0;

	for (unsigned i = 0; i < info->engine_count; i++) {
		uint64_t busy_ns = engine_ns(client, &info->engines[i], use->interval_ns);

		use->has_busy |= info->engines[i].has_ns || info->engines[i].has_cycles;
		most_ns = busy_ns > most_ns ? busy_ns : most_ns;
	}
	use->busy_ns = most_ns < use->interval_ns - use->busy_ns ? use->busy_ns + most_ns : use->interval_ns;
	use->has_memory |= info->has_memory;
	use->memory_bytes += info->memory_bytes;
}

static void note_client(struct client *client, const struct fdinfo *info, uint64_t now_boot_ns)
{
	memcpy(client->engines, info->engines, sizeof(client->engines));
	client->engine_count = info->engine_count;
	client->read_boot_ns = now_boot_ns;
}

/* Returns NULL if there is no room. */
static struct client *client_of(struct drm *drm, const struct device *device, uint64_t id)
{
	for (unsigned i = 0; i < drm->client_count; i++)
		if (drm->clients[i].device == device && drm->clients[i].id == id)
			return &drm->clients[i];
	if (drm->client_count == CLIENTS_MAX)
		return NULL;
	drm->clients[drm->client_count] = (struct client){.device = device, .id = id};
	return &drm->clients[drm->client_count++];
}

/* Those that the search did not find. */
static void forget_clients(struct drm *drm)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < drm->client_count; i++)
		if (drm->clients[i].read_boot_ns == drm->now_boot_ns)
			drm->clients[kept++] = drm->clients[i];
	drm->client_count = kept;
}

/* ---- processes */

/* What the devices did for one process, one entry a device. */
struct uses {
	struct link_use of[LINK_DEVICES_MAX];
	unsigned count;
	bool holds;             /* a device */
	uint64_t since_boot_ns; /* when the process was last read, 0: never */
};

static struct link_use *use_of(struct uses *uses, const struct device *device, uint64_t interval_ns)
{
	for (unsigned i = 0; i < uses->count; i++)
		if (uses->of[i].holder.number == device->number) {
			if (uses->of[i].interval_ns < interval_ns)
				uses->of[i].interval_ns = interval_ns;
			return &uses->of[i];
		}
	uses->of[uses->count] = (struct link_use){.holder.number = device->number, .interval_ns = interval_ns};
	return &uses->of[uses->count++];
}

/* A client that was not found when its process was last read began after that, with counters at 0. What the first search
 * finds only begins an interval. */
static void take_info(struct drm *drm, const struct fdinfo *info, struct uses *uses)
{
	const struct device *device = device_of(drm, info);
	struct client *client = device ? client_of(drm, device, info->client_id) : NULL;

	uses->holds |= device != NULL;
	if (!client || client->read_boot_ns == drm->now_boot_ns)
		return;
	uint64_t since_boot_ns = client->read_boot_ns ? client->read_boot_ns : uses->since_boot_ns;
	uint64_t interval_ns = drm->now_boot_ns - since_boot_ns;

	if (since_boot_ns && interval_ns <= INTERVAL_MAX_NS)
		add_client(client, info, use_of(uses, device, interval_ns));
	note_client(client, info, drm->now_boot_ns);
}

static bool read_text(int directory, const char *name, char text[FILE_MAX])
{
	int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t size = fd < 0 ? -1 : read(fd, text, FILE_MAX - 1);

	if (fd >= 0)
		close(fd);
	if (size <= 0)
		return false;
	text[size] = '\0';
	return true;
}

/* The line that all GPUs have, and no other file. */
static bool is_gpu(const char *text)
{
	return strstr(text, "\ndrm-driver:") != NULL;
}

static void read_process(struct drm *drm, uint32_t pid, struct uses *uses)
{
	char path[PATH_SIZE], text[FILE_MAX];
	struct dirent *entry;
	struct fdinfo info;

	snprintf(path, sizeof(path), "%s/proc/%u/fdinfo", drm_root, pid);
	DIR *directory = opendir(path);

	while (directory && (entry = readdir(directory)))
		if (entry->d_name[0] != '.' && read_text(dirfd(directory), entry->d_name, text) && is_gpu(text) &&
		    fdinfo_parse(text, &info))
			take_info(drm, &info, uses);
	if (directory)
		closedir(directory);
}

/* Reports a process. Returns whether it holds a device. */
static bool sample_process(struct drm *drm, uint32_t pid, uint64_t since_boot_ns, struct link *link)
{
	struct uses uses = {.since_boot_ns = since_boot_ns};

	read_process(drm, pid, &uses);
	uint64_t start_boot_ns = uses.holds ? process_start(drm_root, pid) : 0;

	if (start_boot_ns == 0)
		return false;
	for (unsigned i = 0; i < uses.count; i++) {
		uses.of[i].holder.pid = pid;
		uses.of[i].holder.start_boot_ns = start_boot_ns;
		link_add_use(link, drm->now_boot_ns, &uses.of[i]);
	}
	return true;
}

static uint32_t count_descriptors(uint32_t pid)
{
	char path[PATH_SIZE];
	struct stat status;

	snprintf(path, sizeof(path), "%s/proc/%u/fd", drm_root, pid);
	return stat(path, &status) == 0 ? (uint32_t)status.st_size : 0;
}

/* Returns NULL if it held a device, or was not there. */
static const struct other *next_other(const struct others *others, unsigned *at, uint32_t pid)
{
	while (*at < others->count && others->of[*at].pid < pid)
		(*at)++;
	return *at < others->count && others->of[*at].pid == pid ? &others->of[*at] : NULL;
}

/* Its descriptors are counted before they are read: one that is opened meanwhile is found now or in the next search. */
static void search_process(struct drm *drm, uint32_t pid, const struct other *before, struct others *others,
			   struct link *link)
{
	struct other now = {pid, count_descriptors(pid), drm->now_boot_ns};
	bool is_unchanged = before && now.descriptor_count && before->descriptor_count == now.descriptor_count &&
			    drm->now_boot_ns - before->read_boot_ns < UNCHANGED_MAX_NS;

	if (is_unchanged)
		now.read_boot_ns = before->read_boot_ns;
	else if (sample_process(drm, pid, before ? before->read_boot_ns : drm->search_boot_ns, link)) {
		if (drm->pid_count < PIDS_MAX)
			drm->pids[drm->pid_count++] = pid;
		return;
	}
	if (others->count < OTHERS_MAX)
		others->of[others->count++] = now;
}

/* /proc lists processes by pid: so the first one has a client that several share. */
static void search(struct drm *drm, struct link *link)
{
	const struct others *before = &drm->others[drm->latest_others];
	struct others *others = &drm->others[!drm->latest_others];
	unsigned at = 0;
	char path[PATH_SIZE];
	struct dirent *entry;
	uint32_t pid;

	snprintf(path, sizeof(path), "%s/proc", drm_root);
	DIR *directory = opendir(path);

	drm->pid_count = others->count = 0;
	while (directory && (entry = readdir(directory)))
		if (sscanf(entry->d_name, "%u", &pid) == 1)
			search_process(drm, pid, next_other(before, &at, pid), others, link);
	if (directory)
		closedir(directory);
	drm->latest_others = !drm->latest_others;
	drm->search_boot_ns = drm->now_boot_ns;
	forget_clients(drm);
}

void drm_sample(void *devices, uint64_t now_boot_ns, struct link *link)
{
	struct drm *drm = devices;

	drm->now_boot_ns = now_boot_ns;
	if (drm->search_boot_ns == 0 || now_boot_ns - drm->search_boot_ns >= SEARCH_NS) {
		search(drm, link);
		return;
	}
	for (unsigned i = 0; i < drm->pid_count; i++)
		sample_process(drm, drm->pids[i], drm->search_boot_ns, link);
}
