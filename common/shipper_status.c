/* The shipper's status file. See shipper_status.h. */
#include "common/shipper_status.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "common/text.h"

#define STATUS_BYTES_MAX 65536

int shipper_status_read(const char *directory, struct shipper_status *ret_status)
{
	struct shipper_status status = {0};
	char path[PATH_MAX], text[STATUS_BYTES_MAX];
	json_t *root;
	ssize_t size;
	int fd;

	snprintf(path, sizeof(path), "%s/" SHIPPER_STATUS_FILE, directory);
	/* The directory belongs to the shipper, which is exposed to the network: a FIFO or symbolic link
	 * there must not block or redirect the reader. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	size = read(fd, text, sizeof(text)); /* a regular file: all of it, or as much as fits */
	close(fd);
	root = size < 0 ? NULL : json_loadb(text, (size_t)size, JSON_REJECT_DUPLICATES, NULL);
	if (!json_is_object(root)) {
		json_decref(root);
		return -EBADMSG;
	}
#define I(name) status.name = json_integer_value(json_object_get(root, #name));
#define T(name) \
	snprintf(status.name, sizeof(status.name), "%s", \
		 json_is_string(json_object_get(root, #name)) ? json_string_value(json_object_get(root, #name)) : "");
	SHIPPER_STATUS(I, T)
#undef I
#undef T
	json_decref(root);
	*ret_status = status;
	return 0;
}

/* A text may come from a server and hold any byte. */
static json_t *safe_string(const char *text)
{
	char safe[4 * SHIPPER_STATUS_TEXT_BYTES + 1];

	text_escape(text, strlen(text), safe, sizeof(safe));
	return json_string(safe);
}

char *shipper_status_format(const struct shipper_status *status)
{
	json_t *root = json_object();
	char *text;

#define I(name) json_object_set_new(root, #name, json_integer(status->name));
#define T(name) json_object_set_new(root, #name, safe_string(status->name));
	SHIPPER_STATUS(I, T)
#undef I
#undef T
	text = json_dumps(root, JSON_INDENT(1));
	json_decref(root);
	return text;
}
