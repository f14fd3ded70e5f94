/* Replays a recorded stream. See replay.h.
 *
 * A recording is WIRE_RECORDING_MAGIC, then the frames as on the socket. It is read sequentially, and may be a pipe.
 */
#include "correlator/stream/replay.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "common/log.h"
#include "common/progress.h"

#define MESSAGES_PER_COMMIT 50000
#define MESSAGES_PER_PROGRESS 1000 /* some ms */
#define BUFFER_SIZE (64 * 1024)
#define MAGIC_PREFIX "tracer-record-" /* of all versions */

struct recording {
	FILE *file;
	off_t file_size;         /* 0: unknown, a pipe */
	uint64_t position_bytes; /* of the next frame */
	char frame[WIRE_FRAME_MAX];
	uint32_t frame_size;
};

/* ---- frames */

static const char *magic_problem(const char *data, size_t size)
{
	if (size == WIRE_RECORDING_MAGIC_SIZE && memcmp(data, WIRE_RECORDING_MAGIC, size) == 0)
		return NULL;
	if (size >= strlen(MAGIC_PREFIX) && memcmp(data, MAGIC_PREFIX, strlen(MAGIC_PREFIX)) == 0)
		return size < WIRE_RECORDING_MAGIC_SIZE ? "the recording is truncated in its first line"
							: "a recording of a different version";
	return "not a recording of tracer-probe";
}

/* Returns 1 with the next frame; 0 at the end, also within a frame, where the recorder was stopped; -errno with
 * `*ret_reason`. */
static int frame_read(struct recording *recording, const char **ret_reason)
{
	uint32_t size;
	size_t got = fread(&size, 1, sizeof(size), recording->file);
	bool is_whole = got == sizeof(size);

	if (is_whole) {
		size = recording->frame_size = be32toh(size);
		if (size == 0 || size > WIRE_FRAME_MAX) {
			*ret_reason = "a frame of size 0 or over the limit";
			return -EBADMSG;
		}
		is_whole = fread(recording->frame, 1, size, recording->file) == size;
	}
	if (ferror(recording->file)) {
		*ret_reason = strerror(errno);
		return -EIO;
	}
	if (is_whole) {
		recording->position_bytes += WIRE_FRAME_HEADER_SIZE + size;
	} else if (got > 0) {
		progress_hide();
		log_warning("the recording is truncated at byte %" PRIu64 "; everything before it was replayed",
			    recording->position_bytes);
	}
	return is_whole;
}

/* ---- messages */

/* Does not use the machine's clock, so that replays are identical. */
static int commit(struct session *session)
{
	int r = session_commit(session, session->stream.committed_unix_ns + 1);

	if (r < 0)
		log_error("cannot write the store: %s", strerror(-r));
	return r;
}

static void show_progress(const struct recording *recording)
{
	if (recording->file_size > 0)
		progress_show("replaying: %" PRIu64 " %%",
			      100 * recording->position_bytes / (uint64_t)recording->file_size);
	else
		progress_show("replaying: %" PRIu64 " MiB", recording->position_bytes >> 20);
}

static int replay_messages(struct session *session, struct recording *recording)
{
	const char *reason = NULL;
	uint64_t messages = 0;
	int r;

	while ((r = frame_read(recording, &reason)) > 0) {
		r = session_feed(session, recording->frame, recording->frame_size, &reason);
		if (r < 0)
			break;
		if (++messages % MESSAGES_PER_PROGRESS == 0)
			show_progress(recording);
		if (messages % MESSAGES_PER_COMMIT == 0) {
			r = commit(session);
			if (r < 0)
				return r;
		}
	}
	progress_hide();
	if (r < 0) {
		log_error("the recording is damaged at byte %" PRIu64 ": %s", recording->position_bytes,
			  reason ? reason : strerror(-r));
		return r;
	}
	log_info("replayed %" PRIu64 " messages", messages);
	return commit(session);
}

int replay_file(struct session *session, const char *path)
{
	static struct recording recording; /* large */
	char magic[WIRE_RECORDING_MAGIC_SIZE];
	const char *problem;
	struct stat status;
	int r;

	recording.file = fopen(path, "re");
	if (!recording.file || fstat(fileno(recording.file), &status) < 0) {
		r = -errno;
		log_error("cannot open %s: %s", path, strerror(-r));
		return r;
	}
	setvbuf(recording.file, NULL, _IOFBF, BUFFER_SIZE);
	problem = magic_problem(magic, fread(magic, 1, sizeof(magic), recording.file));
	if (ferror(recording.file))
		problem = strerror(errno);
	recording.file_size = S_ISREG(status.st_mode) ? status.st_size : 0;
	recording.position_bytes = WIRE_RECORDING_MAGIC_SIZE;
	if (problem)
		log_error("cannot replay %s: %s", path, problem);
	r = problem ? -EBADMSG : replay_messages(session, &recording);
	fclose(recording.file);
	return r;
}
