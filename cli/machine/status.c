/* tracer status: whether the daemons are working, and what the store contains. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/query/ask.h"
#include "analysis/query/units.h"
#include "cli/process/daemons.h"
#include "cli/process/program.h"
#include "cli/site_rules.h"
#include "cli/source.h"
#include "common/clock.h"
#include "common/shipper_status.h"

#define LOSS_RECENT_NS (86400 * 1000000000LL) /* older losses are history, not a fault */

#define HOST_SILENT_NS (10 * 60 * 1000000000LL) /* a few intervals of the shipper */
#define HOST_AHEAD_NS (60 * 1000000000LL)       /* clocks of hosts differ by less */
#define HOSTS_NAMED 20

static const char *rules, *shipper = SHIPPER_STATE_DEFAULT;

static const struct option_spec option_specs[] = {
	OPTION_SPECS_OF_FORMAT,
	OPTION_SPEC_STORE,
	OPTION_SPEC_LAKE,
	OPTION_SPEC_SHIPPER(shipper),
	{"rules", 'r', "DIR", "directory", "read site rules from DIR (else " SITE_RULES_DEFAULT ")", .text = &rules},
	OPTION_SPECS_LAST,
};

struct status {
	struct checks checks;
	json_t *json;     /* the figures; checks are added at the end */
	bool has_shipper; /* one is running */
};

/* ---- daemons ----------------------------------------------------------------- */

static void daemon_report(struct status *status, const struct daemon_info *daemon)
{
	int64_t age_ns = (int64_t)clock_boot_ns() - daemon->since_boot_ns;
	struct check *check = checks_add(&status->checks, daemon->stopped ? CHECK_MISSING : CHECK_OK, daemon->name,
					 "pid %d, user %s, %s, for %s%s", daemon->pid, units_user(daemon->user_id),
					 units_bytes(daemon->rss_bytes, false), units_duration(age_ns, false),
					 daemon->stopped ? ", stopped by a signal" : "");

	if (daemon->stopped)
		check_fix(check, "kill -CONT %d", daemon->pid);
	json_array_append_new(json_object_get(status->json, "daemons"),
			      json_pack("{s:s, s:i, s:I, s:I, s:I, s:b}", "name", daemon->name, "pid", daemon->pid,
					"user_id", (json_int_t)daemon->user_id, "rss_bytes",
					(json_int_t)daemon->rss_bytes, "since_boot_ns",
					(json_int_t)daemon->since_boot_ns, "stopped", daemon->stopped));
}

/* Adds a check for a daemon that is not running, and what to do about it. */
static void daemon_missing(struct status *status, const char *name)
{
	struct check *check = checks_add(&status->checks, CHECK_MISSING, name, "not running");

	if (strcmp(name, PROGRAM_PROBE) == 0 && !daemons_have_bpffs())
		check_fix(check,
			  "its service needs a BPF file system: mount -t bpf bpf /sys/fs/bpf, then "
			  "systemctl start %s; or trace one command with tracer run",
			  name);
	else
		check_fix(check,
			  "systemctl start %s; if it ends again, see journalctl -u %s and sudo "
			  "tracer doctor; or trace one command with tracer run",
			  name, name);
}

static void check_daemons(struct status *status)
{
	static const char *const names[] = {PROGRAM_SHIPPER, PROGRAM_PROBE, PROGRAM_CORRELATOR};
	struct daemon_info daemons[DAEMONS_MAX];
	int count = daemons_find(daemons);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		bool is_shipper = i == 0, running = false;

		for (int j = 0; j < count; j++) {
			if (strcmp(daemons[j].name, names[i]) != 0)
				continue;
			daemon_report(status, &daemons[j]);
			running = true;
		}
		if (is_shipper)
			status->has_shipper = running; /* not every host has one */
		else if (!running)
			daemon_missing(status, names[i]);
	}
	daemons_check_namespace(&status->checks, false);
}

/* ---- the store --------------------------------------------------------------- */

static void check_stream(struct status *status, struct store *store)
{
	struct store_stream stream;
	int64_t lag_ns;

	if (store_read_stream(store, &stream) < 0) {
		check_fix(checks_add(&status->checks, CHECK_MISSING, "stream", "no probe has ever sent anything"),
			  "systemctl start %s", PROGRAM_PROBE);
		json_object_set_new(status->json, "stream", json_null());
		return;
	}
	lag_ns = freshness_lag_ns(&stream);
	if (lag_ns < FRESHNESS_LIMIT_NS)
		checks_add(&status->checks, CHECK_OK, "stream", "stored up to %s ago; %s read from this ring",
			   units_duration(lag_ns, false), units_bytes((int64_t)stream.ring_offset, false));
	else
		freshness_report(&stream, &status->checks);
	json_object_set_new(status->json, "stream",
			    json_pack("{s:s, s:I, s:I, s:I, s:I, s:o}", "boot_id", stream.boot_id, "ring_offset",
				      (json_int_t)stream.ring_offset, "rev", (json_int_t)stream.rev,
				      "committed_boot_ns", (json_int_t)stream.committed_boot_ns, "committed_unix_ns",
				      (json_int_t)stream.committed_unix_ns, "lag_ns",
				      lag_ns == INT64_MAX ? json_null() : json_integer(lag_ns)));
}

/* Rows deleted before the shipper had sent them are not caused by the ring. */
static void loss_report(struct status *status, const char *kind, int64_t lost, int64_t last_unix_ns)
{
	bool recent = (int64_t)clock_unix_ns() - last_unix_ns < LOSS_RECENT_NS;
	bool unsent = strcmp(kind, "unsent") == 0, unrecorded = strcmp(kind, "unrecorded") == 0;
	const char *count = unrecorded ? units_counted(lost, false, "process", "processes")
			    : unsent   ? units_counted(lost, false, "row", "rows")
				       : units_counted(lost, false, "record", "records");
	struct check *check = checks_add(&status->checks, recent ? CHECK_LIMITED : CHECK_OK, "losses",
					 unrecorded ? "%s of users with too many running ones (kind %s), the last at %s"
					 : unsent   ? "%s deleted before they were sent (kind %s), the last at %s"
						    : "%s of kind %s, the last at %s",
					 count, kind, units_time(last_unix_ns));

	if (recent && unsent)
		check_fix(check, "restore the connection to the lake (see shipper); until then use a larger store: "
				 "tracer-correlator --store-max");
	else if (recent && unrecorded)
		check_fix(check,
			  "journalctl -u tracer-correlator names the user; the runs that started them are marked "
			  "incomplete");
	else if (recent)
		check_fix(check, "use a larger ring: tracer-probe --ring-size 64M; the affected runs "
				 "are marked incomplete");
}

static int check_losses(struct status *status, struct store *store)
{
	struct store_result *result;
	json_t *array = json_array(), *item;
	int more, error = query_ask(store, "losses_by_kind", NULL, &result);
	bool any = false;

	json_object_set_new(status->json, "losses", array);
	if (error < 0)
		return error;
	while ((more = store_result_next(result)) > 0) {
		const char *kind = store_result_get(result, "kind").data;
		int64_t lost = store_result_get(result, "lost_count").integer;
		int64_t last = store_result_get(result, "last_unix_ns").integer;

		loss_report(status, kind, lost, last);
		item = json_pack("{s:I, s:I}", "lost_count", (json_int_t)lost, "last_unix_ns", (json_int_t)last);
		json_set_string(item, "kind", kind);
		json_array_append_new(array, item);
		any = true;
	}
	store_result_free(result);
	if (!any)
		checks_add(&status->checks, CHECK_OK, "losses", "none");
	return more;
}

static int64_t file_bytes(const char *path, const char *suffix)
{
	char name[4096];
	struct stat status;

	snprintf(name, sizeof(name), "%s%s", path, suffix);
	return stat(name, &status) == 0 ? status.st_size : 0;
}

/* The length of a table's name, singular if the count is 1: "host" for "hosts". */
static size_t row_name_size(const char *name, int64_t count)
{
	size_t size = strlen(name);

	if (count != 1)
		return size;
	return size > 3 && strcmp(name + size - 3, "ses") == 0 ? size - 2 : size - 1;
}

/* Adds the number of rows of every entity as a check, and as members of `rows`. */
static int check_rows(struct status *status, struct store *store, json_t *rows)
{
	struct store_result *result;
	char text[320] = "";
	int more, error = query_ask(store, "status", NULL, &result);

	if (error < 0)
		return error;
	while ((more = store_result_next(result)) > 0) {
		const char *name = store_result_get(result, "name").data;
		int64_t count = store_result_get(result, "row_count").integer;
		size_t used = strlen(text);

		json_object_set_new(rows, name, json_integer(count));
		snprintf(text + used, sizeof(text) - used, "%s%s %.*s", used ? ", " : "", units_count(count, false),
			 (int)row_name_size(name, count), name);
	}
	store_result_free(result);
	checks_add(&status->checks, CHECK_OK, "rows", "%s", text);
	return more;
}

/* The latest of each host; older ones are history, as losses are. */
static int check_clocks(struct status *status, struct store *store)
{
	struct rows sets = {0};
	int error = source_read_clocks(store, NULL, (int64_t)clock_unix_ns() - LOSS_RECENT_NS, &sets);

	for (size_t i = 0; i < sets.count && i < HOSTS_NAMED; i++) {
		const struct row_clock_set *set = ROWS_ITEM(&sets, clock_set, i);

		checks_add(&status->checks, CHECK_LIMITED, "clock", "%s, %s: %s", set->hostname,
			   units_time(set->unix_ns), set->sentence);
	}
	rows_free(&sets);
	return error;
}

static int check_contents(struct status *status, struct store *store, const char *path)
{
	int64_t size = file_bytes(path, "") + file_bytes(path, "-wal");
	json_t *rows = json_object();

	json_object_set_new(status->json, "store",
			    json_pack("{s:I, s:o}", "size_bytes", (json_int_t)size, "rows", rows));
	json_set_string(json_object_get(status->json, "store"), "path", path);
	checks_add(&status->checks, CHECK_OK, "store", "%s, %s", path, units_bytes(size, false));
	return check_rows(status, store, rows);
}

static void check_store(struct status *status, const char *path)
{
	struct store_error text;
	struct store *store;
	int error = store_open_reader(path, &store, &text);

	if (error < 0) {
		if (error == -EACCES && options_is_served() && options_is_services_store(path))
			checks_add(
				&status->checks, CHECK_LIMITED, "store",
				"you see what ran as you; its state is for members of the group " TRACER_CORRELATOR_USER);
		else
			checks_add(&status->checks, CHECK_MISSING, "store", "%s", text.text);
		json_object_set_new(status->json, "store", json_null());
		return;
	}
	error = store_begin_reading(store);
	if (error == 0) {
		check_stream(status, store);
		error = check_losses(status, store);
	}
	if (error == 0)
		error = check_clocks(status, store);
	if (error == 0)
		error = check_contents(status, store, path);
	if (error < 0)
		checks_add(&status->checks, CHECK_MISSING, "store", "%s", store_error_text(store));
	source_close(store);
}

/* ---- the lake ---------------------------------------------------------------- */

/* Reports hosts that are silent, or whose clock is ahead, which hides that; names the first few. */
static void hosts_report(struct status *status, const struct rows *hosts)
{
	int64_t now_ns = (int64_t)clock_unix_ns();
	size_t silent = 0, ahead = 0;

	for (size_t i = 0; i < hosts->count; i++) {
		const struct row_host *host = &ROWS_ITEM(hosts, cloud_host, i)->host;
		json_t *item = row_to_json(&row_type_cloud_host, host);
		int64_t silent_ns = row_subtract(now_ns, host->last_seen_unix_ns);

		json_set_integer(item, "silent_ns", silent_ns);
		json_array_append_new(json_object_get(status->json, "hosts"), item);
		if (silent_ns <= -HOST_AHEAD_NS && ahead++ < HOSTS_NAMED)
			check_fix(checks_add(&status->checks, CHECK_LIMITED, "host", "%s: its clock is %s ahead",
					     host->hostname, units_duration(-silent_ns, false)),
				  "on that host, set the clock: timedatectl");
		if (silent_ns < HOST_SILENT_NS || silent++ >= HOSTS_NAMED)
			continue;
		check_fix(checks_add(&status->checks, CHECK_MISSING, "host", "%s: last heard of %s ago", host->hostname,
				     units_duration(silent_ns, false)),
			  "on that host, see tracer status and journalctl -u tracer-shipper");
	}
	checks_add(&status->checks, CHECK_OK, "hosts", "%zu, of which %zu %s silent for over %d min", hosts->count,
		   silent, units_plural((int64_t)silent, "is", "are"), (int)(HOST_SILENT_NS / 60000000000LL));
}

static void check_lake(struct status *status, const struct options *options)
{
	struct store *store = source_open(options);
	struct rows hosts = {0};
	json_t *rows = json_object();
	int error = store ? source_say(store, rows_load(&hosts, &row_type_cloud_host, store, "hosts", NULL)) : -EIO;

	json_object_set_new(status->json, "hosts", json_array());
	json_object_set_new(status->json, "rows", rows);
	if (error == 0) {
		hosts_report(status, &hosts);
		error = check_losses(status, store);
	}
	if (error == 0)
		error = check_clocks(status, store);
	if (error == 0)
		error = check_rows(status, store, rows);
	if (error < 0)
		checks_add(&status->checks, CHECK_MISSING, "lake", "%s",
			   store ? store_error_text(store) : "cannot be queried");
	rows_free(&hosts);
	source_close(store);
}

/* ---- the verb ---------------------------------------------------------------- */

static void check_host(struct status *status, const struct options *options)
{
	json_object_set_new(status->json, "daemons", json_array());
	check_daemons(status);
	check_store(status, options_services_store_path(options));
	site_rules_check(rules, false, &status->checks);
	daemons_check_shipper(shipper, status->has_shipper, &status->checks, status->json);
}

static int status_main(const struct options *options)
{
	struct status status = {.json = json_object()};

	if (options_use_lake(options))
		check_lake(&status, options);
	else
		check_host(&status, options);
	checks_show(&status.checks, options->color, options->format, status.json);
	return checks_work(&status.checks) ? VERB_OK : VERB_FAILED;
}

const struct verb verb_status = {
	.name = "status",
	.summary = "show daemons, lag, losses and size of the store",
	.description = "Shows whether the daemons are running and keeping up, what was lost, how much\n"
		       "the store holds, and how far the shipper is behind; for a lake, which hosts are\n"
		       "silent. Exit status 1 if something is missing, that is, does not work; the line\n"
		       "below it says what to do.",
	.options = option_specs,
	.examples = "  tracer status\n"
		    "  tracer status --json | jq .stream.lag_ns",
	.main = status_main,
};
