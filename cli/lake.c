/* tracer lake: makes a lake's schema, brings it up to date, looks whether it is right. */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "cli/lake_schema.h"
#include "common/store/store.h"

static int layout_take(const struct options *options, const char *value);
static int keep_take(const struct options *options, const char *value);

static struct lake_verb {
	const struct options *options;
	const char *user;
	enum lake_layout layout;
	bool layout_given;
	struct lake_keep keep;
	bool keep_given;
	bool print;
	struct lake_settings settings;
	struct lake_client *client;
} lake;

static const struct option_spec option_specs[] = {
	{"lake", 0, "URL", NULL, "the lake (else $TRACER_LAKE, else lake.url of lake.yaml)", .common = OPTION_LAKE},
	{"user", 'u', "NAME", NULL, "who asks there: migrator for init and migrate, else analyst", .text = &lake.user},
	{"layout", 'l', "LAYOUT", "one-node shards cluster", "init: one-node (the default), shards or cluster",
	 .take = layout_take},
	{"keep", 'k', "AGES", NULL,
	 "init, migrate: days, as in samples=90d,rest=400d (the default of init); or forever",
	 .take = keep_take},
	{"print", 'p', NULL, NULL, "init, migrate: print the SQL and ask nobody", .flag = &lake.print},
	OPTION_SPEC_JSON,
	OPTION_SPECS_LAST
};

/* 0 or -errno, said. */
static int connect_as(const char *default_user)
{
	char reason[512];
	int error = lake_settings_load(&lake.settings, lake.options->lake_url, lake.user, default_user, reason,
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

/* In the database "default", since ours may not be there yet. */
static int create_database(void)
{
	struct lake_settings settings = lake.settings;
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
	printf("%s: schema %d, %s\n", lake.settings.database, store_schema_version(),
	       lake_layout_names[from.layout]);
	return VERB_OK;
}

/* What a new lake keeps by default. */
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
		return say("tracer lake: there is a schema already: tracer lake migrate brings it up to date");
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
		return say("tracer lake: there is no schema to bring up to date: tracer lake init makes one");
	if (schema.version > store_schema_version())
		return say("tracer lake: the lake is of a newer release: use that release's tracer");
	return migrate(schema);
}

static int print_sql(void)
{
	keep_complete(&lake.keep);
	return lake_schema_print(stdout, "tracer", lake.layout, &lake.keep) < 0
		       ? say("tracer lake: out of memory") : VERB_OK;
}

/* ---- check ----------------------------------------------------------------------- */

static int check(void)
{
	struct findings findings = {0};

	lake_check(lake.client, &lake.settings, &findings);
	findings_show(&findings, lake.options, json_object());
	return findings_worst(&findings) == FINDING_OK ? VERB_OK : VERB_FAILED;
}

/* ---- the verb -------------------------------------------------------------------- */

static const struct {
	const char *name, *user;
	bool prints;
	int (*run)(void);
} actions[] = {
	{"init", "migrator", true, init},
	{"check", "analyst", false, check},
	{"migrate", "migrator", true, bring_up_to_date},
};

static int act(void)
{
	const char *name = lake.options->operands[0];
	int status;

	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		if (strcmp(name, actions[i].name) != 0)
			continue;
		if (lake.layout_given && actions[i].run != init && !lake.print)
			return options_misuse(lake.options, "--layout belongs to init");
		if (lake.keep_given && actions[i].run == check)
			return options_misuse(lake.options, "--keep belongs to init and migrate");
		if (lake.print)
			return actions[i].prints ? print_sql()
						 : options_misuse(lake.options, "check prints no SQL");
		if (connect_as(actions[i].user) < 0)
			return VERB_FAILED;
		status = actions[i].run();
		lake_client_free(lake.client);
		return status;
	}
	return options_misuse(lake.options, "unknown action '%s': use init, check or migrate", name);
}

/* samples=DAYS,rest=DAYS in any order, or one of them: 90d, forever. 0 or -EINVAL. */
static int keep_parse(const char *text, struct lake_keep *keep)
{
	while (*text) {
		int *days = strncmp(text, "samples=", 8) == 0 ? &keep->samples_days :
			    strncmp(text, "rest=", 5) == 0 ? &keep->rest_days : NULL;
		char *end;

		if (!days)
			return -EINVAL;
		text = strchr(text, '=') + 1;
		if (strncmp(text, "forever", 7) == 0) {
			*days = LAKE_KEEP_FOREVER_DAYS;
			text += 7;
		} else {
			long number = isdigit((unsigned char)*text) ? strtol(text, &end, 10) : 0;

			if (number < 1 || number > LAKE_KEEP_FOREVER_DAYS || *end != 'd')
				return -EINVAL;
			*days = (int)number;
			text = end + 1;
		}
		if (*text && (*text != ',' || !text[1]))
			return -EINVAL;
		text += *text == ',';
	}
	return 0;
}

static int keep_take(const struct options *options, const char *value)
{
	lake.keep_given = true;
	return keep_parse(value, &lake.keep) == 0
		       ? 0 : options_misuse(options, "--keep is as in samples=90d,rest=400d, not '%s'", value);
}

static int layout_take(const struct options *options, const char *value)
{
	int layout = lake_layout_find(value);

	if (layout < 0)
		return options_misuse(options, "--layout is one-node, shards or cluster, not '%s'", value);
	lake.layout = (enum lake_layout)layout;
	lake.layout_given = true;
	return 0;
}

static int lake_main(const struct options *options)
{
	lake.options = options;
	return act();
}

const struct verb verb_lake = {
	.name = "lake",
	.operands = "init | check | migrate",
	.operands_least = 1,
	.operands_most = 1,
	.summary = "make, check or upgrade the lake of all hosts",
	.description =
		"init      makes the database, its tables, views and rollups in ClickHouse\n"
		"check     says whether server, schema, settings and rights are right, and what\n"
		"          is kept\n"
		"migrate   brings an older schema up to this release's; what is there stays\n"
		"\n"
		"The server needs Tracer's users first: tracer.xml in its users.d and their\n"
		"passwords. Who asks and how is in ~/.config/tracer/lake.yaml or\n"
		LAKE_SETTINGS_FILE ", section lake: (url, database, user, password-file,\n"
		"token-file, ca-file, certificate-file, key-file, proxy, proxy-user,\n"
		"proxy-password-file, insecure-http), or in $TRACER_LAKE_USER,\n"
		"$TRACER_LAKE_PASSWORD_FILE and so on. docs/datalake.md leads through it.",
	.options = option_specs,
	.examples = "  tracer lake init --lake https://lake.example:8443\n"
		    "  tracer lake check --user shipper\n"
		    "  tracer lake init --print --layout cluster > lake.sql",
	.completion = "init check migrate",
	.main = lake_main,
};
