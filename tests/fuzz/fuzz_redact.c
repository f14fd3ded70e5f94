/* Fuzz target: any bytes as a command line.
 *
 * The output is the input with spans replaced: it has the same number of arguments, equals the
 * input if nothing was removed, and each argument left whole is unchanged. What the fast test passes over has
 * no secret.
 */

#include "common/redact/redact.h"
#include "common/rules/rules.h"
#include "tests/fuzz/fuzz.h"

static size_t nul_count(const char *data, size_t size)
{
	size_t count = 0;

	for (size_t i = 0; i < size; i++)
		count += data[i] == '\0';
	return count;
}

/* Of the shipped rules. */
static const struct secrets *patterns(void)
{
	static struct rules *rules;
	struct tree_error error;

	require(rules || rules_load(NULL, &rules, &error) == 0);
	return rules_secrets(rules);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct secrets *secrets = patterns();
	const char *argv = (const char *)data;
	bool cut = size % 2;
	size_t out_size;
	uint32_t count;
	char *out;

	require(redact_arguments(secrets, REDACT_SECRETS, argv, size, cut, &out, &out_size, &count) == 0);
	require(nul_count(argv, size) == nul_count(out, out_size));
	require(count == 0 || redact_is_needed(secrets, REDACT_SECRETS, argv, size, cut));
	if (count == 0)
		require(out_size == size && (size == 0 || memcmp(out, argv, size) == 0));
	else
		require(memmem(out, out_size, REDACT_MARK, strlen(REDACT_MARK)));
	free(out);
	require(redact_arguments(secrets, REDACT_PROGRAM_ONLY, argv, size, cut, &out, &out_size, &count) == 0);
	require(out_size <= size && (out_size == 0 || memcmp(out, argv, out_size) == 0));
	free(out);
	return 0;
}
