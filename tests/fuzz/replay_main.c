/* Feeds files to a fuzz target, for compilers without libFuzzer.
 *
 *   replay_NAME FILE|FOLDER...   FOLDER: every file in it, not recursively
 *
 * Only repeats the inputs in tests/fuzz/corpus and those that a fuzzer found elsewhere. Ends with
 * the target's crash or with status 0.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "tests/fuzz/fuzz.h"

#define INPUT_MAX (1024 * 1024) /* similar to libFuzzer's own limit */

static int replay_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data;
	size_t size;

	if (!file) {
		fprintf(stderr, "replay: %s: %s\n", path, strerror(errno));
		return -1;
	}
	data = malloc(INPUT_MAX);
	if (!data)
		abort();
	size = fread(data, 1, INPUT_MAX, file);
	fclose(file);
	/* exact size: a sanitizer detects reads past the end */
	data = realloc(data, size ? size : 1);
	if (!data)
		abort();
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	return 0;
}

static int replay_folder(const char *path)
{
	struct dirent **entries;
	int count = scandir(path, &entries, NULL, alphasort), r = count < 0 ? -1 : 0;

	for (int i = 0; i < count; i++) {
		char *file = NULL;

		if (entries[i]->d_name[0] != '.') {
			if (asprintf(&file, "%s/%s", path, entries[i]->d_name) < 0)
				abort();
			if (replay_file(file))
				r = -1;
			free(file);
		}
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	return r;
}

int main(int argc, char **argv)
{
	int failed = argc < 2;

	for (int i = 1; i < argc; i++) {
		struct stat status;
		const char *path = argv[i];
		int r = stat(path, &status) == 0 && S_ISDIR(status.st_mode) ? replay_folder(path) : replay_file(path);

		failed |= r != 0;
	}
	printf("skip - %s: no clang with libFuzzer: its seeds only\n", program_invocation_short_name);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
