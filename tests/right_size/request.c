/* Right sizes for tests/right_size/check.
 *
 *   request rule < LINES          a line is the bytes that tasks needed; prints the largest, the request, and of how many
 *                                 tasks it would not have sufficed if they had been left out
 *   request show STORE FORMAT     as tracer tune --right-size
 */
#include <err.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/right_size.h"
#include "tune/right_size.h"

#define TASKS_MAX 128

static void print_size(const struct right_size_task *tasks, size_t count)
{
	struct right_size size;

	if (right_size_find(tasks, count, ROW_NULL, &size) < 0)
		errx(EXIT_FAILURE, "out of memory");
	printf("%" PRId64 " %" PRId64 " %" PRId64 "\n", size.used_bytes, size.memory_bytes, size.left_out_failed_count);
}

static int rule(void)
{
	struct right_size_task tasks[TASKS_MAX];
	char *line = NULL, *at, *end;
	size_t size = 0, count;

	while (getline(&line, &size, stdin) > 0) {
		at = line;
		for (count = 0; count < TASKS_MAX; count++, at = end) {
			int64_t bytes = strtoll(at, &end, 10);

			if (end == at)
				break;
			tasks[count] = (struct right_size_task){.memory_bytes = bytes,
								.oom_bytes = ROW_NULL,
								.limit_bytes = ROW_NULL,
								.input_bytes = ROW_NULL,
								.cores = NAN,
								.has_succeeded = true};
		}
		print_size(tasks, count);
	}
	free(line);
	return EXIT_SUCCESS;
}

static int show(const char *path, const char *format)
{
	struct options options = {0};
	struct view view = {.options = &options};
	struct store_error reason;
	int error;

	output_init(&view.output, stdout, OUTPUT_COLOR_NEVER);
	if (store_open_reader(path, &view.store, &reason) < 0)
		errx(EXIT_FAILURE, "%s", reason.text);
	error = right_size_show(&view, format, ROW_NULL, NULL, 0);
	store_close(view.store);
	return error == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "rule") == 0)
		return rule();
	if (argc == 4 && strcmp(argv[1], "show") == 0)
		return show(argv[2], argv[3]);
	errx(EXIT_FAILURE, "usage: request rule | show STORE FORMAT");
}
