/* Versions of software by name of task: nf-core's versions.yml, which MultiQC reads too.
 *
 * https://nf-co.re/docs/contributing/modules (versions.yml), https://docs.seqera.io/multiqc/reports/customisation. Versions
 * are quoted: 1.10 is not the number 1.1. How each is known is a comment, which readers skip.
 */
#include <errno.h>
#include <string.h>

#include "analysis/export/formats.h"
#include "analysis/query/units.h"

/* One version of one piece of software in a group. */
struct entry {
	UT_hash_handle hh;
	const struct software *software; /* the first of them */
	int64_t process_count;
	char key[]; /* name and version */
};

/* Tasks of a name. */
struct group {
	UT_hash_handle hh;
	struct entry *entries;
	char name[];
};

struct groups {
	const struct report *report;
	struct group *items;
};

#define UNKNOWN "unknown"

static const char *version_of(const struct software *software)
{
	return software->version ? software->version : UNKNOWN;
}

static struct group *group_find(struct groups *groups, const char *name)
{
	struct group *group;

	HASH_FIND_STR(groups->items, name, group);
	if (group)
		return group;
	group = calloc(1, sizeof(*group) + strlen(name) + 1);
	if (!group)
		return NULL;
	strcpy(group->name, name);
	HASH_ADD_STR(groups->items, name, group);
	return group;
}

static struct entry *entry_find(struct group *group, const struct software *software)
{
	const char *version = version_of(software);
	size_t size = strlen(software->name) + strlen(version) + 2;
	struct entry *entry, *new = calloc(1, sizeof(*new) + size);

	if (!new)
		return NULL;
	strcpy(stpcpy(new->key, software->name) + 1, version);
	HASH_FIND(hh, group->entries, new->key, size, entry);
	if (entry) {
		free(new);
		return entry;
	}
	new->software = software;
	HASH_ADD(hh, group->entries, key, size, new);
	return new;
}

/* The engine and what else belongs to no task is in the group that nf-core calls so. */
static const char *group_name(const struct report *report, size_t index, const struct row_task *task)
{
	return export_has_task(report, index) ? report_task_name(report, index, task) : "Workflow";
}

static int task_take(void *context, size_t index, const struct row_task *task, const struct version_use *uses,
		     size_t count)
{
	struct groups *groups = context;
	struct group *group = count ? group_find(groups, group_name(groups->report, index, task)) : NULL;

	if (count && !group)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		struct entry *entry = entry_find(group, uses[i].software);

		if (!entry)
			return -ENOMEM;
		entry->process_count += uses[i].process_count;
	}
	return 0;
}

static int compare_entries(const struct entry *a, const struct entry *b)
{
	int order = strcmp(a->software->name, b->software->name);

	return order ? order : strcmp(version_of(a->software), version_of(b->software));
}

/* ---- writing ----------------------------------------------------------------------- */

/* Writes a text in double quotes. Returns 0 or -ENOMEM. */
static int text_write(FILE *file, const char *text)
{
	char *safe = text_escaped(text);

	if (!safe)
		return -ENOMEM;
	fputc('"', file);
	for (const char *c = safe; *c; c++) {
		if (*c == '"' || *c == '\\')
			fputc('\\', file);
		fputc(*c, file);
	}
	fputc('"', file);
	free(safe);
	return 0;
}

static int entry_write(FILE *file, const struct entry *entry)
{
	int error = text_write(file, version_of(entry->software));

	fputs(" # ", file);
	export_basis_write(file, entry->software);
	if (entry->process_count > 0)
		fprintf(file, "; executed %s", units_counted(entry->process_count, false, "time", "times"));
	fputc('\n', file);
	return error;
}

static bool is_same_software(const struct entry *a, const struct entry *b)
{
	return a && b && strcmp(a->software->name, b->software->name) == 0;
}

static int group_write(FILE *file, struct group *group)
{
	const struct entry *last = NULL;
	int error = text_write(file, group->name);

	fputs(":\n", file);
	HASH_SORT(group->entries, compare_entries);
	for (const struct entry *entry = group->entries; entry && error == 0; entry = entry->hh.next) {
		bool is_list = is_same_software(entry, entry->hh.next) || is_same_software(last, entry);

		if (!is_same_software(last, entry)) {
			fputs("  ", file);
			error = text_write(file, entry->software->name);
			fputs(is_list ? ":\n" : ": ", file);
		}
		if (is_list)
			fputs("    - ", file);
		if (error == 0)
			error = entry_write(file, entry);
		last = entry;
	}
	return error;
}

static void groups_free(struct groups *groups)
{
	struct group *group, *next_group;
	struct entry *entry, *next;

	HASH_ITER (hh, groups->items, group, next_group) {
		HASH_ITER (hh, group->entries, entry, next) {
			HASH_DEL(group->entries, entry);
			free(entry);
		}
		HASH_DEL(groups->items, group);
		free(group);
	}
}

int export_versions(struct versions *versions, FILE *file)
{
	struct groups groups = {.report = versions->report};
	char *run = text_escaped(report_run(versions->report)->name);
	int error = run ? versions_walk(versions, task_take, &groups) : -ENOMEM;

	fprintf(file,
		"# Versions of software as executed by the run %s, recorded by Tracer " TRACER_VERSION
		".\n# Behind each version: how it is known.\n",
		run ? run : "");
	if (versions->left_out_count > 0)
		fprintf(file, "# Left out beyond %d different programs: %s.\n", VERSIONS_SOFTWARE_MAX,
			units_counted(versions->left_out_count, false, "process", "processes"));
	for (struct group *group = groups.items; group && error == 0; group = group->hh.next)
		error = group_write(file, group);
	if (error == 0 && !groups.items)
		fputs("{}\n", file);
	groups_free(&groups);
	free(run);
	return error;
}
