/* What to request for tasks, as configuration of engines and batch systems. See right_sizes.h.
 *
 * Names come from traced processes. They are quoted for the syntax; one with control characters, a backslash, or bytes that
 * are not UTF-8 is left out, and counted in a comment.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "analysis/query/units.h"
#include "analysis/tune/right_sizes.h"
#include "common/text.h"

#define MIB (INT64_C(1) << 20)
#define GIB (INT64_C(1) << 30)
#define MEGABYTE INT64_C(1000000)
#define NAME_SIZE 1024

/* Whether a name can be quoted in every syntax, and printed. */
static bool name_is_plain(const char *name)
{
	char escaped[4 * NAME_SIZE + 1];
	size_t size = strlen(name);

	if (size == 0 || size > NAME_SIZE || strchr(name, '\\'))
		return false;
	text_escape(name, size, escaped, sizeof(escaped));
	return strcmp(name, escaped) == 0;
}

static bool is_known(const struct right_size *size)
{
	return size->memory_bytes != ROW_NULL && size->cores != ROW_NULL;
}

/* What a request is based on, for a comment. */
static const char *basis_text(const struct right_size *size, char *text, size_t capacity)
{
	int used;

	if (right_size_is_so_far(size)) {
		snprintf(text, capacity, "from what %zu running %s used so far: may be too little", size->running_count,
			 units_plural((int64_t)size->running_count, "task", "tasks"));
		return text;
	}
	used = snprintf(text, capacity, "N=%zu, 1/(N+1)=%.3g %%", size->task_count, 100 * size->fail_share);

	if (size->left_out_failed_count != ROW_NULL)
		used += snprintf(text + used, capacity - (size_t)used, ", %lld of %zu failed if left out",
				 (long long)size->left_out_failed_count, size->task_count);
	if (size->input_memory_bytes != ROW_NULL)
		snprintf(text + used, capacity - (size_t)used, ", for the input: %lld MiB%s",
			 (long long)(size->input_memory_bytes / MIB),
			 size->input.basis == RIGHT_SIZE_INPUT_LARGER ? " (extrapolated)" : "");
	return text;
}

static void left_out_write(FILE *file, const char *comment, size_t count)
{
	if (count > 0)
		fprintf(file, "%s left out: %zu %s that cannot be written here, or whose use is unknown\n", comment,
			count, units_plural((int64_t)count, "name", "names"));
}

static int64_t megabytes(int64_t bytes, int64_t unit)
{
	return (bytes + unit - 1) / unit;
}

/* A name as a regular expression in a Groovy string: Nextflow takes a selector for one. */
static void selector_write(FILE *file, const char *name)
{
	fputc('\'', file);
	for (; *name; name++) {
		if (strchr("!$()*+.?[]^{|}", *name))
			fputs("\\\\", file);
		if (*name == '\'')
			fputc('\\', file);
		fputc(*name, file);
	}
	fputc('\'', file);
}

/* The labels of nf-core's pipelines. */
static const struct {
	const char *name;
	int64_t cores, memory_bytes;
} nf_core_labels[] = {
	{"process_single", 1, 6 * GIB}, {"process_low", 2, 12 * GIB},          {"process_medium", 6, 36 * GIB},
	{"process_high", 12, 72 * GIB}, {"process_high_memory", 0, 200 * GIB},
};

/* The smallest that suffices for both. */
static const char *nf_core_label(int64_t cores, int64_t memory_bytes)
{
	for (size_t i = 0; i < sizeof(nf_core_labels) / sizeof(nf_core_labels[0]); i++)
		if (nf_core_labels[i].cores >= cores && nf_core_labels[i].memory_bytes >= memory_bytes)
			return nf_core_labels[i].name;
	return "none";
}

static void nextflow_write_name(FILE *file, const struct right_sizes_name *item)
{
	const struct right_size *size = &item->size;
	char basis[160];

	fprintf(file, "    // %s\n", basis_text(size, basis, sizeof(basis)));
	fprintf(file, "    // nf-core labels: %s for memory, %s for cpus\n", nf_core_label(0, size->memory_bytes),
		nf_core_label(size->cores, 0));
	fputs("    withName: ", file);
	selector_write(file, item->name);
	fprintf(file, " {\n        memory = { %lld.MB * task.attempt }\n        cpus = %lld\n    }\n",
		(long long)(size->memory_bytes / MIB), (long long)size->cores);
}

static void nextflow_write(FILE *file, const struct right_sizes *sizes, bool has_engine_names)
{
	size_t left_out = 0;

	if (!has_engine_names)
		fputs("// Names are Tracer's: those of processes come with --names trace.txt.\n", file);
	fputs("// task.attempt: more memory for a retry, if errorStrategy is 'retry' and maxRetries at least 1.\n"
	      "process {\n",
	      file);
	for (size_t i = 0; i < sizes->count; i++) {
		const struct right_sizes_name *item = &sizes->items[i];

		if (name_is_plain(item->name) && is_known(&item->size))
			nextflow_write_name(file, item);
		else
			left_out++;
	}
	fputs("}\n", file);
	left_out_write(file, "//", left_out);
}

/* A rule's name is an identifier of Python; other names are not those of rules. */
static bool name_is_rule(const char *name)
{
	if (!isalpha((unsigned char)*name) && *name != '_')
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && *name != '_')
			return false;
	return true;
}

/* A profile's lists, which Snakemake 7 and later read. Snakemake's MB are millions of bytes; it hands the number to
 * Slurm, which takes it for MiB: rounded up, it suffices for both. */
static void snakemake_write(FILE *file, const struct right_sizes *sizes, bool has_engine_names)
{
	static const char *const keys[] = {"set-resources", "set-threads"};
	size_t left_out = 0;
	char basis[160];

	for (size_t key = 0; key < 2; key++) {
		size_t written = 0;

		for (size_t i = 0; i < sizes->count; i++) {
			const struct right_sizes_name *item = &sizes->items[i];

			if (!name_is_rule(item->name) || !is_known(&item->size)) {
				left_out += key == 0;
				continue;
			}
			if (written++ == 0)
				fprintf(file, "%s:\n", keys[key]);
			if (key == 0)
				fprintf(file, "  # %s\n  - %s:mem_mb=%lld\n",
					basis_text(&item->size, basis, sizeof(basis)), item->name,
					(long long)megabytes(item->size.memory_bytes, MEGABYTE));
			else
				fprintf(file, "  - %s=%lld\n", item->name, (long long)item->size.cores);
		}
	}
	if (left_out > 0)
		fprintf(file, "# left out: %zu %s not the name of a rule, or whose use is unknown\n", left_out,
			units_plural((int64_t)left_out, "name that is", "names that are"));
}

static void slurm_write(FILE *file, const struct right_sizes *sizes, bool has_engine_names)
{
	size_t left_out = 0;
	char basis[160];

	for (size_t i = 0; i < sizes->count; i++) {
		const struct right_sizes_name *item = &sizes->items[i];

		if (!name_is_plain(item->name) || !is_known(&item->size)) {
			left_out++;
			continue;
		}
		fprintf(file, "# %s (%s)\n#SBATCH --mem=%lldM\n#SBATCH --cpus-per-task=%lld\n", item->name,
			basis_text(&item->size, basis, sizeof(basis)), (long long)(item->size.memory_bytes / MIB),
			(long long)item->size.cores);
	}
	left_out_write(file, "#", left_out);
}

bool right_sizes_write(const struct right_sizes *sizes, const char *format, bool has_engine_names, FILE *file)
{
	static const struct {
		const char *name;
		void (*write)(FILE *file, const struct right_sizes *sizes, bool has_engine_names);
	} formats[] = {{"nextflow", nextflow_write}, {"snakemake", snakemake_write}, {"slurm", slurm_write}};

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (strcmp(formats[i].name, format) == 0) {
			formats[i].write(file, sizes, has_engine_names);
			return true;
		}
	return false;
}
