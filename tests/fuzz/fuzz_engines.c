/* Fuzz target: any bytes as a file of an engine.
 *
 * A refusal says which line and why; of an accepted file, every name and every file of a job is complete. */
#include <ctype.h>
#include <errno.h>

#include "analysis/engines/reader.h"
#include "tests/fuzz/fuzz.h"

static void check_name(const struct engine_name *name)
{
	require(name->name && name->label);
	require(strlen(name->name) + strlen(name->label) < SIZE_MAX);
	require(name->wall_ns == ROW_NULL || name->wall_ns >= 0);
	require(name->cpu_ns == ROW_NULL || name->cpu_ns >= 0);
	require(name->peak_rss_bytes == ROW_NULL || name->peak_rss_bytes >= 0);
}

static void check_file(const struct file *file)
{
	unsigned count = 0;

	for (const struct use *use = file->uses; use; use = use->next, count++)
		require(use->job->rule && use->job->wildcards && use->job->input_count >= !use->is_output);
	require(count > 0 && count <= FILE_JOBS_MAX && count <= file->use_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char reason[ENGINE_NAMES_REASON_SIZE];
	struct engine_names *names = NULL;
	FILE *file = size ? fmemopen((void *)data, size, "r") : NULL;
	int result;

	if (!file)
		return 0;
	result = engine_names_parse(file, "fuzz", &names, reason);
	require(result == 0 || result == -EINVAL);
	if (result < 0) {
		require(!names && strncmp(reason, "fuzz:", 5) == 0);
		return 0;
	}
	for (const struct entry *entry = names->entries; entry; entry = entry->hh.next)
		check_name(&entry->name);
	for (const struct file *job_file = names->files; job_file; job_file = job_file->hh.next)
		check_file(job_file);
	engine_names_free(names);
	return 0;
}
