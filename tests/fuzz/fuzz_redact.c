/* Fuzz target: any bytes as a command line.
 *
 * The output is the input with spans replaced: it has the same number of arguments, equals the
 * input if nothing was removed, and each argument left whole is unchanged.
 */

#include "correlator/redact/redact.h"
#include "tests/fuzz/fuzz.h"

static size_t nul_count(const char *data, size_t size)
{
	size_t count = 0;

	for (size_t i = 0; i < size; i++)
		count += data[i] == '\0';
	return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *argv = (const char *)data;
	size_t out_size;
	uint32_t count;
	char *out;

	require(redact_arguments(REDACT_SECRETS, argv, size, &out, &out_size, &count) == 0);
	require(nul_count(argv, size) == nul_count(out, out_size));
	if (count == 0)
		require(out_size == size && (size == 0 || memcmp(out, argv, size) == 0));
	else
		require(memmem(out, out_size, REDACT_MARK, strlen(REDACT_MARK)));
	free(out);
	require(redact_arguments(REDACT_PROGRAM_ONLY, argv, size, &out, &out_size, &count) == 0);
	require(out_size <= size && (out_size == 0 || memcmp(out, argv, out_size) == 0));
	free(out);
	return 0;
}
