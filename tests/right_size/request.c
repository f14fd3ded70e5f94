/* Right sizes for tests/right_size/check.
 *
 *   request rule < LINES          a line is the bytes that tasks needed; prints the largest, the request, and of how many
 *                                 tasks it would not have sufficed if they had been left out
 *   request running < LINES       the same of tasks that still run, which used so much so far
 *   request input < LINES         a line is the bytes of an input, and pairs of the input and the memory of tasks;
 *                                 prints the request for that input, else in general, the basis (enum
 *                                 right_size_input), and of how many tasks left out it would not have sufficed
 *   request show STORE     as tracer tune --right-size
 */
#include <err.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/tune/right_size.h"
#include "cli/advise/right_size.h"

#define NUMBERS_MAX 256

/* Reads a line of numbers. Returns their count, or -1 at the end. */
static int numbers_read(int64_t *numbers)
{
	static char *line;
	static size_t size;
	char *at, *end;
	int count;

	if (getline(&line, &size, stdin) <= 0)
		return -1;
	at = line;
	for (count = 0; count < NUMBERS_MAX; count++, at = end) {
		numbers[count] = strtoll(at, &end, 10);
		if (end == at)
			break;
	}
	return count;
}

static struct right_size_task task_of(int64_t input_bytes, int64_t memory_bytes)
{
	return (struct right_size_task){.memory_bytes = memory_bytes,
					.oom_bytes = ROW_NULL,
					.limit_bytes = ROW_NULL,
					.input_bytes = input_bytes,
					.cores = NAN,
					.has_succeeded = true};
}

static struct right_size size_of(const struct right_size_task *tasks, size_t count, int64_t input_bytes)
{
	struct right_size size;

	if (right_size_find(tasks, count, input_bytes, &size) < 0)
		errx(EXIT_FAILURE, "out of memory");
	return size;
}

static int rule(bool is_running)
{
	struct right_size_task tasks[NUMBERS_MAX];
	int64_t numbers[NUMBERS_MAX];
	int count;

	while ((count = numbers_read(numbers)) >= 0) {
		struct right_size size;

		for (int i = 0; i < count; i++) {
			tasks[i] = task_of(ROW_NULL, numbers[i]);
			tasks[i].is_running = is_running;
			tasks[i].has_succeeded = !is_running;
		}
		size = size_of(tasks, (size_t)count, ROW_NULL);
		printf("%" PRId64 " %" PRId64 " %" PRId64 "\n", size.used_bytes, size.memory_bytes,
		       size.left_out_failed_count);
	}
	return EXIT_SUCCESS;
}

static int input(void)
{
	struct right_size_task tasks[NUMBERS_MAX];
	int64_t numbers[NUMBERS_MAX];
	int count;

	while ((count = numbers_read(numbers)) > 0) {
		struct right_size size;

		for (int i = 1; i + 1 < count; i += 2)
			tasks[i / 2] = task_of(numbers[i], numbers[i + 1]);
		size = size_of(tasks, (size_t)count / 2, numbers[0]);
		printf("%" PRId64 " %d %zu\n",
		       size.input_memory_bytes == ROW_NULL ? size.memory_bytes : size.input_memory_bytes,
		       (int)size.input.basis, size.input.left_out_failed_count);
	}
	return EXIT_SUCCESS;
}

static int show(const char *path, const char *format)
{
	struct options options = {.format = strcmp(format, "nextflow") == 0    ? RIGHT_SIZE_NEXTFLOW
					    : strcmp(format, "snakemake") == 0 ? RIGHT_SIZE_SNAKEMAKE
									       : FORMAT_JSON,
				  .user_id = ROW_NULL};
	struct view view = {.options = &options};
	struct store_error reason;
	int error;

	output_init(&view.output, stdout, OUTPUT_COLOR_NEVER);
	if (store_open_reader(path, &view.store, &reason) < 0)
		errx(EXIT_FAILURE, "%s", reason.text);
	error = right_size_show(&view, &(struct right_size_request){ROW_NULL, NULL}, NULL, 0);
	store_close(view.store);
	return error == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "rule") == 0)
		return rule(false);
	if (argc == 2 && strcmp(argv[1], "running") == 0)
		return rule(true);
	if (argc == 2 && strcmp(argv[1], "input") == 0)
		return input();
	if (argc == 4 && strcmp(argv[1], "show") == 0)
		return show(argv[2], argv[3]);
	errx(EXIT_FAILURE, "usage: request rule | running | input | show STORE FORMAT");
}
