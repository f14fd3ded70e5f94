/* Replays a recorded stream. See replay.h. */
#include "correlator/stream/replay.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"
#include "common/progress.h"
#include "correlator/stream/recording.h"

#define MESSAGES_PER_COMMIT 50000
#define MESSAGES_PER_PROGRESS 1000 /* some ms */

/* Does not use the machine's clock, so that replays are identical. */
static int commit(struct session *session)
{
	int r = session_commit(session, session->stream.committed_unix_ns + 1);

	if (r < 0)
		log_error("cannot write the store: %s", strerror(-r));
	return r;
}

static void show_progress(const struct recording *recording, off_t size)
{
	if (size > 0)
		progress_show("replaying: %" PRIu64 " %%", 100 * recording->position_bytes / (uint64_t)size);
	else /* a pipe */
		progress_show("replaying: %" PRIu64 " MiB", recording->position_bytes >> 20);
}

static int replay_messages(struct session *session, struct recording *recording, off_t file_size)
{
	const char *data, *reason = NULL;
	uint64_t messages = 0;
	size_t size;
	int r;

	while ((r = recording_next(recording, &data, &size, &reason)) == RECORDING_FRAME) {
		r = session_feed(session, data, size, &reason);
		if (r < 0)
			break;
		if (++messages % MESSAGES_PER_PROGRESS == 0)
			show_progress(recording, file_size);
		if (messages % MESSAGES_PER_COMMIT == 0) {
			r = commit(session);
			if (r < 0)
				return r;
		}
	}
	progress_hide();
	if (r == RECORDING_CUT)
		log_warning("the recording is truncated at byte %" PRIu64 "; everything before it was replayed",
			    recording->position_bytes);
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
	struct recording recording;
	const char *reason = NULL;
	struct stat status;
	int r, fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &status) < 0) {
		r = -errno;
		log_error("cannot open %s: %s", path, strerror(-r));
		goto end;
	}
	r = recording_init(&recording, fd, &reason);
	if (r < 0) {
		log_error("cannot replay %s: %s", path, reason ? reason : strerror(-r));
		goto end;
	}
	r = replay_messages(session, &recording, S_ISREG(status.st_mode) ? status.st_size : 0);
	recording_deinit(&recording);
end:
	if (fd >= 0)
		close(fd);
	return r;
}
