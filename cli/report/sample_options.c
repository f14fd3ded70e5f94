/* Where the names of samples come from. See sample_options.h. */
#include "cli/report/sample_options.h"

#include <errno.h>
#include <string.h>

#include "analysis/cost/csv_file.h"
#include "cli/site_rules.h"

const char *sample_sheet, *sample_pattern;

static int name_take(void *context, const struct csv_row *row, struct tree_error *ret_error)
{
	const char *name = row->fields[0];
	int error = sample_names_add(context, name);

	if (error != -EINVAL)
		return error;
	return *name ? tree_error_set(ret_error, "", 0, "no letter or digit in the name of a sample, or over %d bytes",
				      SAMPLE_NAMES_BYTES_MAX)
		     : tree_error_set(ret_error, "", 0, "column sample is empty");
}

static int sheet_read(const char *path, struct sample_names *names)
{
	static const char *const column[] = {"sample"};
	static const struct csv_columns columns = {
		.names = column, .count = 1, .required_count = 1, .may_have_tabs = true};
	struct tree_error reason;
	int error = csv_read(path, &columns, name_take, names, &reason);

	if (error == 0 && sample_names_count(names) == 0)
		error = tree_error_set(&reason, path, 0, "names no sample");
	return error == 0 ? 0 : site_file_say(error, &reason);
}

static void say_refused(const struct tree_error *error, void *data)
{
	(void)data;
	site_rules_say(error);
}

/* The site's rules, if any of them names samples. */
static int rules_read(struct sample_names **ret_names)
{
	static const char *const directories[] = {SITE_RULES_DEFAULT, NULL};
	struct rules *rules;
	int error = rules_load_valid(directories, say_refused, NULL, &rules);

	if (error < 0)
		return error;
	if (!rules_name_samples(rules)) {
		rules_free(rules);
		return 0;
	}
	*ret_names = sample_names_of_rules(rules);
	return *ret_names ? 0 : -ENOMEM;
}

static int pattern_read(const struct options *options, struct sample_names **ret_names)
{
	char reason[SAMPLE_NAMES_REASON_SIZE];
	int error = sample_names_compile(sample_pattern, ret_names, reason);

	return error == -EINVAL ? options_misuse(options, "--sample-pattern '%s': %s", sample_pattern, reason) : error;
}

int sample_options_read(const struct options *options, bool by_sample, struct sample_names **ret_names)
{
	*ret_names = NULL;
	if (sample_sheet && sample_pattern)
		return options_misuse(options, "give only one of --sample-sheet and --sample-pattern");
	if ((sample_sheet || sample_pattern) && !by_sample)
		return options_misuse(options, "--sample-%s needs --by sample", sample_sheet ? "sheet" : "pattern");
	if (sample_pattern)
		return pattern_read(options, ret_names);
	if (!sample_sheet)
		return by_sample ? rules_read(ret_names) : 0;
	*ret_names = sample_names_new();
	if (!*ret_names)
		return -ENOMEM;
	return strcmp(sample_sheet, "none") == 0 ? 0 : sheet_read(sample_sheet, *ret_names);
}

void samples_print_misfit(const char *misfit, const struct output *output)
{
	if (*misfit)
		output_print(output, STYLE_DIM, "No sample structure found: %s\n", misfit);
}
