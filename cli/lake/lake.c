/* tracer lake: creates, migrates and checks a lake's schema. */
#include <errno.h>
#include <string.h>

#include "analysis/lake/schema.h"
#include "cli/options.h"
#include "cli/screen/checks.h"
#include "common/store/store.h"

static struct lake_verb {
	const struct options *options;
	const char *login;
	int layout; /* enum lake_layout; -1: not given */
	const char *keep_text;
	struct lake_keep keep;
	bool print;
	struct access settings;
	struct lake_client *client;
} lake = {.layout = -1};

static const struct option_spec option_specs[] = {
	{"lake", 0, "URL", NULL, "the lake (else $TRACER_LAKE, else lake.url of lake.yaml)",
	 .text = &options_given.lake_url},
	{"login", 0, "NAME", NULL, "log in as NAME: migrator for init and migrate, else analyst", .text = &lake.login},
	{"layout", 0, "LAYOUT", "one-node shards cluster", "init: one-node (the default), shards or cluster",
	 .choice = &lake.layout},
	{"keep", 0, "AGES", NULL, "init, migrate: days, such as samples=90d,rest=400d (default of init); or forever",
	 .text = &lake.keep_text},
	{"print", 0, NULL, NULL, "init, migrate: print the SQL without connecting", .flag = &lake.print},
	OPTION_SPECS_OF_FORMAT,
	OPTION_SPECS_LAST,
};

/* Returns 0, or -errno after printing the error. */
static int connect_as(const char *default_user)
{
	char reason[512];
	int error = lake_settings_load(&lake.settings, lake.options->lake_url, lake.login, default_user, reason,
				       sizeof(reason));

	if (error == 0)
		error = lake_client_new(&lake.settings, &lake.client, reason, sizeof(reason));
	if (error < 0)
		say("tracer lake: %s", reason);
	return error;
}

static int say_failure(const struct lake_client *client)
{
	return say("tracer lake: %s", lake_client_error(client));
}

/* ---- init and migrate ------------------------------------------------------------ */

/* Connects to the database "default", since ours may not exist yet. */
static int create_database(void)
{
	struct access settings = lake.settings;
	struct lake_client *client;
	char reason[512];
	int status = VERB_OK;

	strcpy(settings.database, "default");
	if (lake_client_new(&settings, &client, reason, sizeof(reason)) < 0)
		return say("tracer lake: %s", reason);
	if (lake_schema_create_database(client, lake.settings.database, lake.layout) < 0)
		status = say_failure(client);
	lake_client_free(client);
	return status;
}

static int migrate(struct lake_schema from)
{
	if (lake_schema_migrate(lake.client, from, &lake.keep) < 0)
		return say_failure(lake.client);
	printf("%s: schema %d, %s\n", lake.settings.database, store_schema_version(), lake_layout_names[from.layout]);
	return VERB_OK;
}

/* Fills in the default retention of a new lake. */
static void keep_complete(struct lake_keep *keep)
{
	if (!keep->samples_days)
		keep->samples_days = LAKE_KEEP_SAMPLES_DAYS;
	if (!keep->rest_days)
		keep->rest_days = LAKE_KEEP_REST_DAYS;
}

static int init(void)
{
	struct lake_schema schema;

	if (lake_schema_read(lake.client, &schema) < 0)
		return say_failure(lake.client);
	if (schema.version > 0)
		return say("tracer lake: the schema already exists; use tracer lake migrate to upgrade it");
	schema.layout = lake.layout;
	keep_complete(&lake.keep);
	return create_database() == VERB_OK ? migrate(schema) : VERB_FAILED;
}

static int bring_up_to_date(void)
{
	struct lake_schema schema;

	if (lake_schema_read(lake.client, &schema) < 0)
		return say_failure(lake.client);
	if (schema.version == 0)
		return say("tracer lake: no schema to upgrade; use tracer lake init to create one");
	if (schema.version > store_schema_version())
		return say("tracer lake: the lake has the schema of a newer release; use that release's tracer");
	return migrate(schema);
}

static int print_sql(void)
{
	keep_complete(&lake.keep);
	return lake_schema_print(stdout, "tracer", lake.layout, &lake.keep) < 0 ? say("tracer lake: out of memory")
										: VERB_OK;
}

/* ---- check ----------------------------------------------------------------------- */

static void fact_add(void *checks, enum lake_fact_level level, const char *topic, const char *text, const char *fix)
{
	static const enum check_level levels[] = {
		[LAKE_OK] = CHECK_OK, [LAKE_LIMITED] = CHECK_LIMITED, [LAKE_MISSING] = CHECK_MISSING};
	struct check *check = checks_add(checks, levels[level], topic, "%s", text);

	if (fix)
		check_fix(check, "%s", fix);
}

static int check(void)
{
	struct checks checks = {0};

	lake_check(lake.client, &lake.settings, fact_add, &checks);
	checks_show(&checks, lake.options->color, lake.options->format, json_object());
	return checks_work(&checks) ? VERB_OK : VERB_FAILED;
}

/* ---- the verb -------------------------------------------------------------------- */

static int lake_main(const struct options *options)
{
	const char *name = options->operands[0];
	bool is_init = strcmp(name, "init") == 0, is_check = strcmp(name, "check") == 0;
	int status;

	lake.options = options;
	if (!is_init && !is_check && strcmp(name, "migrate") != 0)
		return options_misuse(options, "unknown action '%s': use init, check or migrate", name);
	if (lake.layout >= 0 && !is_init && !lake.print)
		return options_misuse(options, "--layout applies only to init");
	if (is_check && (lake.keep_text || lake.print))
		return options_misuse(options, lake.print ? "--print does not apply to check"
							  : "--keep applies only to init and migrate");
	if (lake.keep_text && lake_keep_parse(lake.keep_text, &lake.keep) < 0)
		return options_misuse(options, "--keep takes e.g. samples=90d,rest=400d, not '%s'", lake.keep_text);
	lake.layout = lake.layout < 0 ? LAKE_ONE_NODE : lake.layout;
	if (lake.print)
		return print_sql();
	if (connect_as(is_check ? "analyst" : "migrator") < 0)
		return VERB_FAILED;
	status = is_check ? check() : is_init ? init() : bring_up_to_date();
	lake_client_free(lake.client);
	return status;
}

const struct verb verb_lake = {
	.name = "lake",
	.operands = "init | check | migrate",
	.operands_least = 1,
	.operands_most = 1,
	.summary = "create, check or upgrade the lake of all hosts",
	.description = "init      creates the database, its tables, views and rollups in ClickHouse\n"
		       "check     checks server, schema, settings and privileges; shows the retention\n"
		       "migrate   upgrades an older schema to this release's; existing data is kept\n"
		       "\n"
		       "The server first needs Tracer's users: tracer.xml in its users.d, and their\n"
		       "passwords. Connection settings are in ~/.config/tracer/lake.yaml or\n" LAKE_SETTINGS_FILE
		       ", section lake: (url, database, user, password-file,\n"
		       "token-file, ca-file, certificate-file, key-file, proxy, proxy-user,\n"
		       "proxy-password-file, insecure-http), or in $TRACER_LAKE_USER,\n"
		       "$TRACER_LAKE_PASSWORD_FILE and so on. See docs/datalake.md for instructions.",
	.options = option_specs,
	.examples = "  tracer lake init --lake https://lake.example:8443\n"
		    "  tracer lake check --login shipper\n"
		    "  tracer lake init --print --layout cluster > lake.sql",
	.completion = "init check migrate",
	.main = lake_main,
};
