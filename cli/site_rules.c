/* The rules as the verbs load them. See site_rules.h. */
#include "cli/site_rules.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/text.h"

void site_rules_say(const struct rules_error *error)
{
	char file[sizeof(error->file) * 4 + 1], reason[sizeof(error->reason) * 4 + 1];

	text_escape(error->file, strlen(error->file), file, sizeof(file));
	text_escape(error->reason, strlen(error->reason), reason, sizeof(reason));
	if (error->line)
		fprintf(stderr, "%s:%u: %s\n", file, error->line, reason);
	else
		fprintf(stderr, "%s: %s\n", file, reason);
}

struct rules *site_rules_load(const char *directory)
{
	const char *const directories[] = {directory ? directory : SITE_RULES_DEFAULT, NULL};
	struct rules_error error = {{0}, 0, {0}};
	struct rules *rules;
	char safe[512];
	/* The default need not be there; what somebody names has to. */
	int result = directory && access(directory, F_OK) < 0 ? -errno
							       : rules_load(directories, &rules, &error);

	if (result == 0)
		return rules;
	if (result == -EINVAL) {
		site_rules_say(&error);
	} else {
		text_escape(directories[0], strlen(directories[0]), safe, sizeof(safe));
		fprintf(stderr, "tracer: cannot read the rules of %s: %s\n", safe, strerror(-result));
	}
	return NULL;
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
	snprintf(text, capacity, "%s (not among the rules of now)", rule);
}
