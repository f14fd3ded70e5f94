/* Opens and queries the store of a verb. See source.h. */
#include "cli/source.h"

#include <errno.h>
#include <string.h>

#include "analysis/lake/lake.h"
#include "analysis/query/subject.h"
#include "analysis/query/units.h"
#include "analysis/served/served.h"

#define HOSTS_NAMED 5 /* in an error */
#define CLOCKS_NAMED 3

static int64_t only_user_id = ROW_NULL;
static bool is_missing;

void source_restrict(int64_t user_id)
{
	only_user_id = user_id;
}

bool source_is_missing(void)
{
	return is_missing;
}

int source_say(const struct store *store, int error)
{
	if (error < 0)
		say("tracer: %s", error == -ENOMEM ? "out of memory" : store_error_text(store));
	return error;
}

static int open_lake(const struct options *options, struct store **ret_store, struct store_error *ret_error)
{
	struct access settings;
	int error = lake_settings_load(&settings, options->lake_url, NULL, "analyst", ret_error->text,
				       sizeof(ret_error->text));

	return error < 0 ? error : lake_open(&settings, ret_store, ret_error);
}

/* Of a user who may not read the services' store: what `tracer serve` shows of it. `ret_error` says why the file was
 * refused. */
static int open_served(struct store **ret_store, struct store_error *ret_error)
{
	struct store_error why;
	int error = served_open(SERVED_SOCKET, ret_store, &why);
	size_t used = strlen(ret_error->text);

	if (error == -ENOENT || error == -ECONNREFUSED)
		snprintf(ret_error->text + used, sizeof(ret_error->text) - used,
			 "; tracer-serve, which shows users what ran as them, is not running");
	else if (error < 0)
		*ret_error = why;
	return error;
}

static int open_store(const struct options *options, struct store **ret_store, struct store_error *ret_error)
{
	const char *path = options_store_path(options);
	int error = store_open_reader(path, ret_store, ret_error);

	return error == -EACCES && options_is_services_store(path) ? open_served(ret_store, ret_error) : error;
}

struct store *source_open(const struct options *options)
{
	struct store_error error = {{0}};
	struct store *store;
	int failed =
		options_use_lake(options) ? open_lake(options, &store, &error) : open_store(options, &store, &error);

	is_missing = failed < 0;
	if (failed < 0) {
		say("tracer: %s", error.text);
		return NULL;
	}
	if ((only_user_id != ROW_NULL && source_say(store, store_restrict(store, only_user_id)) < 0) ||
	    source_say(store, store_begin_reading(store)) < 0) {
		store_close(store);
		return NULL;
	}
	return store;
}

void source_close(struct store *store)
{
	if (!store)
		return;
	store_end_reading(store);
	store_close(store);
}

int source_renew(struct store *store)
{
	store_end_reading(store);
	return store_begin_reading(store);
}

/* A name that no host has must not look like a host on which nothing happened. */
static int host_check(struct store *store, const char *name)
{
	struct rows hosts = {0};
	char text[512] = "";
	size_t used = 0, i;
	int error = rows_load(&hosts, &row_type_cloud_host, store, "hosts", NULL);

	for (i = 0; i < hosts.count; i++) {
		const char *other = ROWS_ITEM(&hosts, cloud_host, i)->host.hostname;

		if (strcmp(other, name) == 0)
			break;
		if (i < HOSTS_NAMED)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%.80s", i ? ", " : "", other);
	}
	if (error == 0 && i == hosts.count && i > HOSTS_NAMED)
		snprintf(text + used, sizeof(text) - used, " and %zu more", i - HOSTS_NAMED);
	if (error == 0 && i == hosts.count)
		error = i > 0 ? say("tracer: no host is named '%s'; hosts: %s", name, text)
			      : say("tracer: no host is named '%s': there is none yet, see tracer status", name);
	rows_free(&hosts);
	return error;
}

int source_show(const struct options *options, int (*show)(struct view *view))
{
	struct view view = {.options = options};
	int error = VERB_FAILED;

	output_init(&view.output, stdout, options->color);
	view.store = source_open(options);
	if (view.store)
		error = options->host ? host_check(view.store, options->host) : 0;
	if (view.store && error == 0)
		error = show(&view);
	if (error < 0 && !ferror(stdout))
		source_say(view.store, error);
	source_close(view.store);
	return error < 0 ? VERB_FAILED : error;
}

int source_read_clocks(struct store *store, const char *host, int64_t since_unix_ns, struct rows *ret_sets)
{
	const struct store_parameter parameters[] = {STORE_INT("since_unix_ns", row_known(since_unix_ns)),
						     {"host", host ? STORE_TEXT : STORE_NULL, 0, host},
						     {0}};

	return rows_load(ret_sets, &row_type_clock_set, store, "clock_sets", parameters);
}

int source_say_clocks(struct store *store, const char *host, int64_t since_unix_ns)
{
	struct rows sets = {0};
	int error = source_read_clocks(store, host, since_unix_ns, &sets);

	for (size_t i = 0; i < sets.count && i < CLOCKS_NAMED; i++) {
		const struct row_clock_set *set = ROWS_ITEM(&sets, clock_set, i);

		say("tracer: %s, %s: %s", set->hostname, units_time(set->unix_ns), set->sentence);
	}
	if (sets.count > CLOCKS_NAMED)
		say("tracer: the wall clock was set on %zu more hosts", sets.count - CLOCKS_NAMED);
	rows_free(&sets);
	return error;
}

void source_say_unwatched(const struct rows *hosts)
{
	int64_t last_unix_ns = ROW_NULL;

	for (size_t i = 0; i < hosts->count; i++)
		if (ROWS_ITEM(hosts, cloud_host, i)->host.last_seen_unix_ns > last_unix_ns)
			last_unix_ns = ROWS_ITEM(hosts, cloud_host, i)->host.last_seen_unix_ns;
	if (last_unix_ns == ROW_NULL)
		say("tracer: no host was watched yet: see tracer status");
	else
		say("tracer: no host was watched in that time; the last was heard of at %s", units_time(last_unix_ns));
}

/* `how` is what the runs have in common. */
static int say_ambiguous(const char *how, const char *text, const struct rows *runs)
{
	say("tracer: several runs %s '%s': be more specific, or give an id", how, text);
	for (size_t i = 0; i < runs->count; i++) {
		const struct row_run *run = ROWS_ITEM(runs, run, i);

		say("  %s  %s  %s", units_id(run->id, false), units_time(run->started_unix_ns), run->name);
	}
	return VERB_FAILED;
}

static int say_none(const struct store *store, const struct options *options, const char *text)
{
	/* Whether --host or --user restricts the runs. */
	bool is_restricted = options && (options->host || options->user_id != ROW_NULL);

	if (text && strcmp(text, "latest") != 0)
		return say("tracer: no run has a name that contains '%s' or an id that begins with it%s: see "
			   "tracer runs --all",
			   text, is_restricted ? ", of this host or user" : "");
	if (is_restricted)
		return say("tracer: no run of this host or user: see tracer runs --all");
	return store_is_restricted(store)
		       ? say("tracer: nothing has run as you yet: members of the group tracer see what others ran")
		       : say("tracer: this store has no runs yet: start something, or see tracer status");
}

int source_find_run(struct store *store, const struct options *options, const char *text, struct rows *ret_run)
{
	const struct store_parameter filter[] = {SOURCE_FILTER(options)};
	int found = subject_find_run(store, text && strcmp(text, "latest") != 0 ? text : NULL, filter, ret_run);

	if (found == -ENOENT)
		return say_none(store, options, text);
	if (found <= 0)
		return found;
	found = say_ambiguous(found == SUBJECT_SEVERAL_IDS ? "have ids that begin with" : "have names that contain",
			      text, ret_run);
	rows_free(ret_run);
	return found;
}
