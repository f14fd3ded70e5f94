/* Snakemake: rules with wildcards, and its log, in which jobs have files. See reader.h. */
#include "analysis/engines/reader.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Converts {'sample': 'a', 'unit': 1} or sample=a,unit=1 to the form of a label, "sample=a,unit=1". */
static void wildcards_read(const char *text, char *ret_text, size_t capacity)
{
	size_t length = 0;

	for (; *text && length + 1 < capacity; text++) {
		if (strchr("{}'\" ", *text))
			continue;
		ret_text[length++] = *text == ':' ? '=' : *text;
	}
	ret_text[length] = '\0';
}

int snakemake_add(struct reader *reader, const char *rule, const char *wildcards)
{
	char key[1024], label[512];

	wildcards_read(wildcards, label, sizeof(label));
	snprintf(key, sizeof(key), "%s %s", rule, label);
	return reader_add(reader, key, rule, label);
}

/* Ends the current job after its last line. */
int snakemake_end_job(struct reader *reader)
{
	struct job *job = reader->job;

	reader->job = NULL;
	return job ? snakemake_add(reader, job->rule, job->wildcards) : 0;
}

static int job_add_file(struct reader *reader, const char *path, size_t size, bool is_output)
{
	struct engine_names *names = reader->names;
	struct file *file;
	struct use *use;

	if (size == 0)
		return 0;
	HASH_FIND(hh, names->files, path, size, file);
	if (!file) {
		file = arena_alloc(&names->arena, sizeof(*file) + size);
		if (!file)
			return reader_no_memory(reader);
		memcpy(file->path, path, size);
		HASH_ADD(hh, names->files, path, size, file);
	}
	reader->job->input_count += !is_output;
	if (file->use_count++ >= FILE_JOBS_MAX)
		return 0;
	use = arena_alloc(&names->arena, sizeof(*use));
	if (!use)
		return reader_no_memory(reader);
	*use = (struct use){file->uses, reader->job, is_output};
	file->uses = use;
	return 0;
}

/* "a.bam, b.bam (check log file(s) for error details)" */
static int job_add_files(struct reader *reader, const char *text, bool is_output)
{
	int r = 0;

	while (*text && *text != '(' && r == 0) {
		size_t size = strcspn(text, ", ");

		r = job_add_file(reader, text, size, is_output);
		text += size;
		text += strspn(text, ", ");
	}
	return r;
}

static int job_take_line(struct reader *reader, const char *line)
{
	static const struct {
		const char *key;
		bool is_output;
	} files[] = {{"output: ", true}, {"log: ", true}, {"benchmark: ", true}, {"input: ", false}};
	char wildcards[512];

	line += strspn(line, " \t");
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (strncmp(line, files[i].key, strlen(files[i].key)) == 0)
			return job_add_files(reader, line + strlen(files[i].key), files[i].is_output);
	if (strncmp(line, "wildcards: ", 11) != 0)
		return 0;
	wildcards_read(line + 11, wildcards, sizeof(wildcards));
	reader->job->wildcards = reader_keep(reader, wildcards);
	return reader->job->wildcards ? 0 : reader_no_memory(reader);
}

/* "rule NAME:", then lines "    KEY: VALUE" until one that is not indented. */
int snakemake_read_log(struct reader *reader)
{
	static const char *const starts[] = {"rule ", "localrule ", "checkpoint ", "localcheckpoint "};
	const char *line = reader->line;
	int r;

	if (isspace((unsigned char)line[0]) && reader->job)
		return job_take_line(reader, line);
	r = snakemake_end_job(reader);
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]) && r == 0; i++) {
		size_t size = strlen(starts[i]), length = strlen(line);

		if (strncmp(line, starts[i], size) != 0 || line[length - 1] != ':')
			continue;
		reader->known = true;
		reader->job = arena_alloc(&reader->names->arena, sizeof(*reader->job));
		if (!reader->job)
			return reader_no_memory(reader);
		*reader->job = (struct job){.wildcards = "", .number = reader->job_count++};
		reader->job->rule = arena_copy(&reader->names->arena, line + size, length - size - 1);
		return reader->job->rule ? 0 : reader_no_memory(reader);
	}
	return r;
}
