/* Reading recordings. See recording.h. */
#include "correlator/stream/recording.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define READ_SIZE (64 * 1024)

/* The start of the magic in all versions. */
#define MAGIC_PREFIX "tracer-record-"

/* Returns the number of bytes read into the input, 0 at end of file, or -errno. */
static ssize_t recording_fill(struct recording *recording)
{
	char *data;
	ssize_t size;
	int r;

	r = wire_input_reserve(&recording->input, READ_SIZE, &data);
	if (r)
		return r;
	do {
		size = read(recording->fd, data, READ_SIZE);
	} while (size < 0 && errno == EINTR);
	if (size < 0)
		return -errno;
	wire_input_filled(&recording->input, (size_t)size);
	return size;
}

static const char *magic_refuse(const char *data, size_t size)
{
	if (size >= strlen(MAGIC_PREFIX) && memcmp(data, MAGIC_PREFIX, strlen(MAGIC_PREFIX)) == 0)
		return size < WIRE_RECORDING_MAGIC_SIZE ? "the recording is truncated in its first line"
							: "a recording of a different version";
	return "not a recording of tracer-probe";
}

static int recording_read_magic(struct recording *recording, const char **ret_reason)
{
	struct wire_input *input = &recording->input;
	ssize_t filled;

	do {
		filled = recording_fill(recording);
		if (filled < 0)
			return (int)filled;
	} while (filled > 0 && input->size < WIRE_RECORDING_MAGIC_SIZE);
	if (input->size < WIRE_RECORDING_MAGIC_SIZE ||
	    memcmp(input->data, WIRE_RECORDING_MAGIC, WIRE_RECORDING_MAGIC_SIZE) != 0) {
		*ret_reason = magic_refuse(input->data, input->size);
		return -EBADMSG;
	}
	input->position = WIRE_RECORDING_MAGIC_SIZE;
	recording->position_bytes = WIRE_RECORDING_MAGIC_SIZE;
	return 0;
}

int recording_init(struct recording *recording, int fd, const char **ret_reason)
{
	int r;

	*recording = (struct recording){.fd = fd};
	r = recording_read_magic(recording, ret_reason);
	if (r)
		recording_deinit(recording);
	return r;
}

void recording_deinit(struct recording *recording)
{
	wire_input_deinit(&recording->input);
}

int recording_next(struct recording *recording, const char **ret_data, size_t *ret_size, const char **ret_reason)
{
	struct wire_input *input = &recording->input;
	ssize_t filled;
	int r;

	while ((r = wire_input_next(input, ret_data, ret_size)) == 0) {
		filled = recording_fill(recording);
		if (filled < 0)
			return (int)filled;
		if (filled == 0)
			return input->position == input->size ? RECORDING_END : RECORDING_CUT;
	}
	if (r < 0) {
		*ret_reason = "a frame of size 0 or over the limit";
		return r;
	}
	recording->position_bytes += WIRE_FRAME_HEADER_SIZE + *ret_size;
	return RECORDING_FRAME;
}
