/* The list of prices that a verb uses. See price_list.h. */
#include "cli/price_list.h"

#include <errno.h>

#include "cli/units.h"
#include "query/rows.h"

struct prices *price_list_load(const char *path)
{
	struct tree_error error;
	struct prices *prices;
	int result = prices_load(path ? path : PRICE_LIST_DEFAULT, !path, &prices, &error);

	if (result == 0)
		return prices;
	if (result == -ENOMEM)
		say("tracer: out of memory");
	else if (error.line)
		say("tracer: %s:%u: %s", error.file, error.line, error.reason);
	else
		say("tracer: %s: %s", error.file, error.reason);
	return NULL;
}

static void doubt_print(size_t count, const char *doubt, const char *rest, const struct output *output)
{
	if (count > 0)
		output_print(output, STYLE_WARNING, "%s %s %s%s (see tracer prices show)\n", doubt,
			     units_count((int64_t)count, false), units_plural((int64_t)count, "host", "hosts"), rest);
}

void price_doubts_print(const struct price_doubts *doubts, const struct prices *prices, const struct output *output)
{
	char none[64];

	doubt_print(doubts->default_count, "No price is known for", ": OpenCost's defaults were used", output);
	snprintf(none, sizeof(none), "No price in %s is known for", prices_currency(prices));
	doubt_print(doubts->none_count, none, ": left out", output);
}

void price_doubts_to_json(const struct price_doubts *doubts, json_t *root)
{
	json_set_integer(root, "default_price_count", (int64_t)doubts->default_count);
	json_set_integer(root, "no_price_count", (int64_t)doubts->none_count);
}
