/* Fuzz target: any bytes as a rule file, then any command line against its rules.
 *
 * Input: YAML up to the first NUL, then NUL-separated: program, #! script ("" for none),
 * working directory, cgroup, arguments. A refusal must say why; loaded rules must
 * classify any command line, and loaded secrets redact it.
 */
#include <errno.h>

#include "common/redact/redact.h"
#include "common/rules/rules.h"
#include "common/rules/shipped.h"
#include "tests/fuzz/fuzz.h"

#define WORDS_MAX 64

/* The shipped rules are not tested here. */
const struct rules_shipped rules_shipped[1];
const size_t rules_shipped_count = 0;

static void check_text(const char text[RULES_NAME_MAX])
{
	require(memchr(text, '\0', RULES_NAME_MAX));
}

static void classify(const struct rules *rules, const char *const *words, size_t count)
{
	struct rules_subject mother = {
		.path = "/bin/sh",
		.argc = count,
		.argv = words,
		.working_directory = "",
		.cgroup = "",
	};
	struct rules_subject subject = {
		.path = words[0],
		.script = *words[1] ? words[1] : NULL,
		.working_directory = words[2],
		.cgroup = words[3],
		.argc = count - 4,
		.argv = words + 4,
		.parent = &mother,
	};
	struct rules_class class;

	memset(&class, 0xff, sizeof(class));
	rules_classify(rules, &subject, &class);
	require(class.role < RULES_ROLE_COUNT && class.role != RULES_ROLE_INTERPRETER);
	require((class.rank != RULES_RANK_NONE) == (class.role == RULES_ROLE_ORCHESTRATOR));
	check_text(class.name);
	require(class.name[0] != '\0');
	check_text(class.run_name);
	check_text(class.run_key);
	check_text(class.task_name);
	check_text(class.engine);
}

static void read_versions(const struct rules *rules, const char *program, const char *text)
{
	struct rules_version version;

	for (int source = 0; source < RULES_VERSION_SOURCE_COUNT; source++) {
		memset(&version, 0xff, sizeof(version));
		if (!rules_read_version(rules, (enum rules_version_source)source, program, text, &version))
			continue;
		require(*version.package && memchr(version.package, '\0', sizeof(version.package)));
		require(*version.version && memchr(version.version, '\0', sizeof(version.version)));
	}
}

static void read_cgroup(const struct rules *rules, const char *path)
{
	size_t size = strlen(path);
	struct rules_cgroup cgroup;

	if (rules_read_cgroup(rules, path, size, &cgroup))
		require(cgroup.id_size > 0 && cgroup.id >= path && cgroup.id + cgroup.id_size <= path + size);
}

static void redact(const struct secrets *secrets, const char *argv, size_t size)
{
	uint32_t count;
	size_t out_size;
	char *out;

	require(redact_arguments(secrets, REDACT_SECRETS, argv, size, true, &out, &out_size, &count) == 0);
	free(out);
}

static void check_descriptions(const struct rules *rules)
{
	struct rules_description description;
	size_t count = 0;

	while (rules_describe(rules, count, &description)) {
		require(description.name && description.summary && description.line > 0);
		count++;
	}
	require(count == rules_count(rules));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *words[WORDS_MAX] = {"", "", "", ""};
	struct tree_error error = {.reason = ""};
	char *text = malloc(size + 1), *end;
	struct rules *rules = NULL;
	size_t count = 0, yaml_size;

	require(text);
	memcpy(text, data, size);
	text[size] = '\0';
	yaml_size = strlen(text);
	end = text + size;
	for (char *word = text + yaml_size + 1; word < end && count < WORDS_MAX; word += strlen(word) + 1)
		words[count++] = word;
	if (rules_load_memory("fuzz.yaml", data, yaml_size, &rules, &error) == 0) {
		check_descriptions(rules);
		classify(rules, words, count < 4 ? 4 : count);
		read_versions(rules, words[1], words[0]);
		read_cgroup(rules, words[0]);
		if (yaml_size < size)
			redact(rules_secrets(rules), text + yaml_size + 1, size - yaml_size - 1);
		rules_free(rules);
	} else {
		require(error.reason[0] != '\0' && !rules);
	}
	free(text);
	return 0;
}
