/* Whether the daemons are at work on a store. See freshness.h. */
#include "cli/freshness.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/program.h"
#include "cli/units.h"
#include "common/clock.h"

#define COMMIT_DELAY_NS 4000000000LL /* from what a probe says last to its commit, at most */

#define SOCKET_PATH TRACER_RUN_DIR "/tracer.sock"

static bool is_this_boot(const char *boot_id)
{
	char text[256];

	return strcmp(program_read_line("/proc/sys/kernel/random/boot_id", text), boot_id) == 0;
}

int64_t freshness_lag_ns(const struct store_stream *stream)
{
	int64_t lag;

	if (!is_this_boot(stream->boot_id))
		return INT64_MAX;
	lag = (int64_t)(clock_boot_ns() - stream->committed_boot_ns);
	return lag > 0 ? lag : 0;
}

/* The correlator writes samples of the host without a probe, and commits them. */
static const char *silent_daemon(const struct store_stream *stream, int64_t lag_ns)
{
	int64_t commit_age_ns = (int64_t)(clock_unix_ns() - stream->committed_unix_ns);

	return lag_ns - commit_age_ns > COMMIT_DELAY_NS ? PROGRAM_PROBE : PROGRAM_CORRELATOR;
}

void freshness_tell(const struct store_stream *stream, struct findings *findings)
{
	int64_t lag_ns = freshness_lag_ns(stream);

	if (lag_ns == INT64_MAX) {
		findings_add(findings, FINDING_MISSING, "stream",
			     "nothing stored since this host booted");
	} else if (lag_ns >= FRESHNESS_LIMIT_NS) {
		const char *silent = silent_daemon(stream, lag_ns);

		findings_add(findings, FINDING_MISSING, "stream", "%s has %s nothing for %s", silent,
			     strcmp(silent, PROGRAM_PROBE) == 0 ? "sent" : "stored",
			     units_duration(lag_ns, false));
	} else {
		return;
	}
	finding_mend(&findings->items[findings->count - 1],
		     "see the logs: journalctl -u tracer-correlator -u tracer-probe");
}

enum freshness freshness_read(const char *store_path)
{
	struct store_error ignored;
	struct store_stream stream;
	struct stat status;
	struct store *store;
	int error = store_open_reader(store_path, &store, &ignored);
	bool fresh;

	if (error == -EACCES && (stat(SOCKET_PATH, &status) == 0 || errno == EACCES))
		return FRESHNESS_UNREADABLE;
	if (error < 0)
		return FRESHNESS_STALE;
	fresh = store_read_stream(store, &stream) == 0 &&
		freshness_lag_ns(&stream) < FRESHNESS_LIMIT_NS;
	store_close(store);
	return fresh ? FRESHNESS_FRESH : FRESHNESS_STALE;
}
