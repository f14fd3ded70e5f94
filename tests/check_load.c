/* State across restarts: replays the golden recordings with a new correlator every few messages. */
#include <fcntl.h>
#include <unistd.h>

#include "common/log.h"
#include "correlator/stream/recording.h"
#include "correlator/stream/session.h"
#include "tests/dump.h"
#include "tests/suite.h"

#define MESSAGES_PER_COMMIT 7

/* Without snakemake: memory maxima and samples are written in steps, which start again after a restart. */
static const char *const recordings[] = {"failures", "make", "script"};

static char directory[128];
static struct rules *rules;

/* A correlator with its store, and the hello that its probe sends on every connection. */
struct correlator {
	char path[160];
	struct store *store;
	struct model *model;
	struct session session;
	char hello[1024];
	size_t hello_size;
};

static void feed(struct correlator *correlator, const char *data, size_t size)
{
	const char *reason = "";

	ck_assert_msg(session_feed(&correlator->session, data, size, &reason) == 0, "%s", reason);
}

static void start(struct correlator *correlator)
{
	const struct model_options options = {.rules = rules, .keep_states = true};
	struct store_error error;

	ck_assert_int_eq(store_open_writer(correlator->path, &correlator->store, &error), 0);
	ck_assert_int_eq(apply_begin(&options, correlator->store, &correlator->model), 0);
	ck_assert_int_eq(session_init(&correlator->session, correlator->model, correlator->store), 0);
}

static void stop(struct correlator *correlator)
{
	apply_end(correlator->model);
	store_close(correlator->store);
}

/* Commits and ends the connection; optionally restarts the correlator. */
static void reconnect(struct correlator *correlator, bool is_restarted)
{
	ck_assert_int_eq(session_commit(&correlator->session, 1), 0);
	if (is_restarted) {
		stop(correlator);
		start(correlator);
	}
	session_reset(&correlator->session);
	feed(correlator, correlator->hello, correlator->hello_size);
}

static void replay(struct correlator *correlator, const char *name, bool is_restarted)
{
	struct recording recording;
	const char *data, *reason = NULL;
	char path[256];
	unsigned messages = 0, commits = 0;
	bool in_scan = false;
	size_t size;
	int fd, r;

	snprintf(path, sizeof(path), GOLDEN_DIRECTORY "/%s.rec", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(recording_init(&recording, fd, &reason), 0);
	while ((r = recording_next(&recording, &data, &size, &reason)) == RECORDING_FRAME) {
		if (correlator->hello_size == 0) { /* the first message */
			ck_assert_uint_le(size, sizeof(correlator->hello));
			memcpy(correlator->hello, data, size);
			correlator->hello_size = size;
		}
		feed(correlator, data, size);
		/* Not within a scan: its beginning would be sent again, which changes the story. */
		if (correlator->session.message.type == WIRE_SAMPLE)
			in_scan = true;
		if (correlator->session.message.type == WIRE_SCAN)
			in_scan = false;
		/* Only every second commit, so that finished entries can also be released. */
		if (++messages % MESSAGES_PER_COMMIT == 0 && !in_scan)
			reconnect(correlator, is_restarted && ++commits % 2 == 0);
	}
	ck_assert_int_eq(r, RECORDING_END);
	ck_assert_int_eq(session_commit(&correlator->session, 1), 0);
	recording_deinit(&recording);
	close(fd);
}

static FILE *dumped(const char *name, bool is_restarted)
{
	struct correlator *correlator = calloc(1, sizeof(*correlator));
	FILE *file = tmpfile();

	ck_assert_ptr_nonnull(correlator);
	ck_assert_ptr_nonnull(file);
	snprintf(correlator->path, sizeof(correlator->path), "%s/%d.db", directory, is_restarted);
	start(correlator);
	replay(correlator, name, is_restarted);
	ck_assert_int_eq(store_dump(correlator->store, file), 0);
	stop(correlator);
	free(correlator);
	rewind(file);
	return file;
}

TEST_EACH(a_restart_at_any_commit_changes_nothing, recordings)
{
	FILE *without = dumped(recordings[_i], false), *with = dumped(recordings[_i], true);
	char *one = NULL, *other = NULL;
	size_t one_size = 0, other_size = 0, lines = 0;

	while (getline(&one, &one_size, without) > 0) {
		ck_assert_int_gt(getline(&other, &other_size, with), 0);
		ck_assert_str_eq(other, one);
		lines++;
	}
	ck_assert_int_lt(getline(&other, &other_size, with), 0);
	ck_assert_uint_gt(lines, 20);
	free(one);
	free(other);
	fclose(without);
	fclose(with);
}

static void setup(void)
{
	const char *const site[] = {NULL};
	struct tree_error error;

	suite_directory(directory, sizeof(directory));
	ck_assert_int_eq(rules_load(site, &rules, &error), 0);
}

static void teardown(void)
{
	rules_free(rules);
	suite_directory_remove(directory);
}

int main(void)
{
	log_init("check_load", LOG_LEVEL_ERROR);
	return suite_run("load", setup, teardown);
}
