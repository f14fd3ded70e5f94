/* The list of prices that a verb uses. See price_list.h. */
#include "cli/advise/price_list.h"

#include "analysis/query/rows.h"
#include "analysis/query/units.h"
#include "cli/site_rules.h"

struct prices *price_list_load(const char *path)
{
	struct tree_error error;
	struct prices *prices;
	int result = prices_load(path ? path : PRICE_LIST_DEFAULT, !path, &prices, &error);

	if (result == 0)
		return prices;
	site_file_say(result, &error);
	return NULL;
}

void price_doubts_print(const struct price_doubts *doubts, const struct prices *prices, const struct output *whole)
{
	struct output_flow flow;
	const struct output *output = &flow.inner;

	output_flow_begin(&flow, whole);
	if (doubts->default_count > 0)
		output_print(output, STYLE_WARNING,
			     "No price is known for %s: OpenCost's defaults were used (see tracer prices show)\n",
			     units_counted((int64_t)doubts->default_count, false, "host", "hosts"));
	if (doubts->none_count > 0)
		output_print(
			output, STYLE_WARNING, "No price in %s is known for %s: left out (see tracer prices show)\n",
			prices_currency(prices), units_counted((int64_t)doubts->none_count, false, "host", "hosts"));
	if (doubts->spot_count > 0)
		output_print(output, STYLE_WARNING,
			     "Priced as on demand, but may be spot: %s (see tracer prices show)\n",
			     units_counted((int64_t)doubts->spot_count, false, "host", "hosts"));
	output_flow_end(&flow, 0);
}
