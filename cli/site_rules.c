/* Loads rules for the verbs. See site_rules.h. */
#include "cli/site_rules.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

void site_rules_say(const struct tree_error *error)
{
	if (error->line)
		say("%s:%u: %s", error->file, error->line, error->reason);
	else
		say("%s: %s", error->file, error->reason);
}

int site_file_say(int result, const struct tree_error *error)
{
	if (result == -ENOMEM)
		return say("tracer: out of memory");
	return error->line ? say("tracer: %s:%u: %s", error->file, error->line, error->reason)
			   : say("tracer: %s: %s", error->file, error->reason);
}

static void say_refused(const struct tree_error *error, void *data)
{
	site_rules_say(error);
}

struct catalogue *site_queries_load(const char *directory)
{
	struct catalogue *catalogue;

	/* The default directory may be missing; one that the user names must exist. */
	if (directory && access(directory, F_OK) < 0) {
		say("tracer: cannot read the questions in %s: %s", directory, strerror(errno));
		return NULL;
	}
	if (catalogue_load(directory ? directory : SITE_QUERIES_DEFAULT, say_refused, NULL, &catalogue) == 0)
		return catalogue;
	say("tracer: out of memory");
	return NULL;
}

struct rules *site_rules_load(const char *directory)
{
	const char *const directories[] = {directory ? directory : SITE_RULES_DEFAULT, NULL};
	struct tree_error error = {{0}, 0, {0}};
	struct rules *rules;
	/* The default directory may be missing; one that the user names must exist. */
	int result = directory && access(directory, F_OK) < 0 ? -errno : rules_load(directories, &rules, &error);

	if (result == 0)
		return rules;
	if (result == -EINVAL)
		site_rules_say(&error);
	else
		say("tracer: cannot read the rules in %s: %s", directories[0], strerror(-result));
	return NULL;
}

#define REFUSED_SHOWN 8

struct refusals {
	struct checks *checks;
	unsigned count;
};

static void report_refused(const struct tree_error *error, void *data)
{
	struct refusals *refusals = data;
	char line[16] = "";

	if (++refusals->count > REFUSED_SHOWN)
		return;
	if (error->line)
		snprintf(line, sizeof(line), ":%u", error->line);
	check_fix(checks_add(refusals->checks, CHECK_LIMITED, "rules", "%.120s%s: %.180s", error->file, line,
			     error->reason),
		  "this file is not used: correct it (tracer rules check FILE), then systemctl "
		  "restart tracer-correlator");
}

void site_rules_check(const char *directory, bool report_ok, struct checks *checks)
{
	const char *const directories[] = {directory ? directory : SITE_RULES_DEFAULT, NULL};
	struct refusals refusals = {.checks = checks};
	struct rules *rules;

	if (rules_load_valid(directories, report_refused, &refusals, &rules) < 0)
		return; /* out of memory */
	if (refusals.count > REFUSED_SHOWN)
		checks_add(checks, CHECK_LIMITED, "rules", "%u more files in %s have errors and are not used",
			   refusals.count - REFUSED_SHOWN, directories[0]);
	if (refusals.count == 0 && report_ok)
		checks_add(checks, CHECK_OK, "rules", "%zu, including those in %s", rules_count(rules), directories[0]);
	rules_free(rules);
}

void site_rules_where(const struct rules *rules, const char *rule, char *text, size_t capacity)
{
	struct rules_description found;

	if (!rule) {
		snprintf(text, capacity, "none: named after its program");
		return;
	}
	for (size_t i = 0; rules && rules_describe(rules, i, &found); i++) {
		if (strcmp(found.name, rule) == 0) {
			snprintf(text, capacity, "%s (%s:%u)", rule, found.file, found.line);
			return;
		}
	}
	snprintf(text, capacity, "%s (no longer among the rules)", rule);
}
