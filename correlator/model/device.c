/* See device.h. */
#include "correlator/model/device.h"

#include <inttypes.h>
#include <stdio.h>

#include "correlator/model/image.h"
#include "correlator/model/model.h"

#define DEVICES_MAX_BYTES 256          /* 16 GPUs and their control nodes; any more are ignored */
#define DEVICES_OF_HOST_MAX_BYTES 2048 /* two kinds; any more are ignored */

/* From Documentation/admin-guide/devices.txt and nvidia-modprobe. */
#define MAJOR_NVIDIA 195
#define MAJOR_DRI 226
#define NVIDIA_MODESET 254
#define NVIDIA_CONTROL 255
#define DRI_RENDER 128

static void device_name(uint64_t major, uint64_t minor, char *text, size_t size)
{
	if (major == MAJOR_NVIDIA && minor == NVIDIA_CONTROL)
		snprintf(text, size, "nvidiactl");
	else if (major == MAJOR_NVIDIA && minor == NVIDIA_MODESET)
		snprintf(text, size, "nvidia-modeset");
	else if (major == MAJOR_NVIDIA)
		snprintf(text, size, "nvidia%" PRIu64, minor);
	else if (major == MAJOR_DRI)
		snprintf(text, size, "dri/%s%" PRIu64, minor < DRI_RENDER ? "card" : "renderD", minor);
	else
		snprintf(text, size, "%" PRIu64 ":%" PRIu64, major, minor);
}

static bool list_has(const char *list, const char *name)
{
	size_t size = strlen(name);

	for (const char *item = list; item; item = strchr(item, ',')) {
		item += *item == ',';
		if (strncmp(item, name, size) == 0 && (item[size] == ',' || item[size] == '\0'))
			return true;
	}
	return false;
}

static void add_name(struct model *model, struct image *image, const char *name)
{
	char list[DEVICES_MAX_BYTES];

	if (image->gpu && list_has(image->gpu, name))
		return;
	if ((size_t)snprintf(list, sizeof(list), "%s%s%s", image->gpu ? image->gpu : "", image->gpu ? "," : "", name) >=
	    sizeof(list))
		return;
	model_set_text(model, &image->gpu, list);
	image_set_dirty(model, image);
}

void device_add(struct model *model, struct image *image, uint64_t major, uint64_t minor)
{
	char name[48];

	device_name(major, minor, name, sizeof(name));
	add_name(model, image, name);
}

void device_add_use(struct model *model, struct image *image, const char *name, const struct device_report *report)
{
	if (!image->use)
		image->use = device_use_new(model);
	if (!image->use || !device_use_add(model, image->use, name, report, image->begin_boot_ns))
		return;
	add_name(model, image, name);
	if (image->ended != IMAGE_LIVING)
		image_take_use(model, image);
}

static void append(char list[DEVICES_OF_HOST_MAX_BYTES], const char *names, size_t size)
{
	size_t used = strlen(list);

	if (size > 0 && used + 1 + size < DEVICES_OF_HOST_MAX_BYTES)
		snprintf(list + used, DEVICES_OF_HOST_MAX_BYTES - used, "%s%.*s", used ? "," : "", (int)size, names);
}

void device_set_of_host(struct model *model, const char *kind, const char *names, size_t size)
{
	char list[DEVICES_OF_HOST_MAX_BYTES] = "";

	for (const char *item = model->gpus; item; item = strchr(item, ',')) {
		item += *item == ',';
		if (!device_is_of_kind(item, kind))
			append(list, item, strcspn(item, ","));
	}
	append(list, names, size);
	model_set_text(model, &model->gpus, list);
	model->host.gpus = model->gpus;
	model->host_dirty = model->host.host_key != NULL;
}

bool device_add_error(struct model *model, struct image *image, const struct device_error *error)
{
	if (image->device_error && error->boot_ns < image->device_error->boot_ns + DEVICE_ERROR_NS)
		return false;
	if (!image->device_error)
		image->device_error = model_alloc(model, sizeof(*image->device_error));
	if (!image->device_error)
		return false;
	*image->device_error = *error;
	return true;
}
