/* See device.h. */
#include "probe/forward/device.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

/* NVIDIA has several, some with changing numbers; drm belongs to every other graphics driver,
 * kfd to AMD for computing, accel to accelerators without graphics. */
static bool is_gpu_driver(const char *name)
{
	return strncmp(name, "nvidia", strlen("nvidia")) == 0 || strcmp(name, "drm") == 0 || strcmp(name, "kfd") == 0 ||
	       strcmp(name, "accel") == 0;
}

void device_majors_find(struct device_majors *majors, int fd)
{
	char text[16384], name[64], *line, *rest = text;
	size_t size = 0;
	ssize_t more;
	unsigned major;

	while ((more = pread(fd, text + size, sizeof(text) - 1 - size, (off_t)size)) > 0)
		size += (size_t)more;
	text[size] = '\0';
	while ((line = strsep(&rest, "\n")) && strncmp(line, "Block", 5) != 0)
		if (sscanf(line, "%u %63s", &major, name) == 2 && is_gpu_driver(name))
			device_majors_add(majors, major);
}
