/* Replays a recorded stream into the model. */
#pragma once

#include "correlator/stream/session.h"

/* Commits after fixed numbers of messages, so the same recording gives the same store.
 * Shows its progress on a terminal (common/progress.h). A recording that was cut off is
 * replayed up to there, with a warning. Returns 0 or -errno, with the reason logged. */
int replay_file(struct session *session, const char *path);
