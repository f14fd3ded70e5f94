/* See rows.h. */
#include "cli/serve/rows.h"

#include <errno.h>

#include "analysis/served/served.h"
#include "cli/source.h"

static const struct option_spec option_specs[] = {OPTION_SPEC_SOURCE, OPTION_SPEC_END};

/* The operands are parameters; the last is the query. */
static int rows_main(const struct options *options)
{
	char **operands = options->operands, *query = operands[options->operand_count - 1];
	struct store *store = source_open(options);
	struct store_error problem;
	int error;

	if (!store)
		return VERB_FAILED;
	operands[options->operand_count - 1] = NULL;
	error = served_answer(stdout, store, query, operands, &problem);
	if (error < 0)
		fprintf(stderr, "%s\n", problem.text);
	source_close(store);
	return error == 0 ? VERB_OK : error == -EINVAL ? VERB_USAGE : VERB_FAILED;
}

const struct verb rows_verb = {
	.name = "rows",
	.operands = "[NAME=VALUE...] QUERY",
	.operands_least = 1,
	.operands_most = SIZE_MAX,
	.options = option_specs,
	.main = rows_main,
};
