/* See device.h. */
#include "probe/device.h"

#include <stdio.h>
#include <string.h>

bool device_majors_add(struct device_majors *majors, uint32_t major)
{
	for (int i = 0; i < DEVICE_MAJORS_MAX; i++) {
		if (majors->major[i] == 0)
			majors->major[i] = major;
		if (majors->major[i] == major)
			return true;
	}
	return false;
}

/* NVIDIA has several, some with numbers that change; drm is every other graphics driver's,
 * kfd AMD's for computing, accel that of accelerators without graphics. */
static bool is_gpu_driver(const char *name)
{
	return strncmp(name, "nvidia", strlen("nvidia")) == 0 || strcmp(name, "drm") == 0 ||
	       strcmp(name, "kfd") == 0 || strcmp(name, "accel") == 0;
}

void device_majors_find(struct device_majors *majors)
{
	FILE *file = fopen("/proc/devices", "re");
	char line[128], name[64];
	unsigned major;

	while (file && fgets(line, sizeof(line), file) && strncmp(line, "Block", 5) != 0) {
		if (sscanf(line, "%u %63s", &major, name) == 2 && is_gpu_driver(name))
			device_majors_add(majors, major);
	}
	if (file)
		fclose(file);
}
