/* Replays a recorded stream into the model. */
#pragma once

#include "correlator/stream/session.h"

/* Commits at fixed counts of messages, so the same recording makes the same store.
 * Says on a terminal how far it is (common/progress.h). 0; -errno, with the reason
 * logged. A recording that was cut off is used up to there, with a warning. */
int replay_file(struct session *session, const char *path);
