/* Warnings and expected ends as text. See living.h. */
#include "cli/report/living.h"

#include <stdio.h>

#include "analysis/query/units.h"
#include "common/clock.h"

const char *living_ends_in(const struct row_expected_end *end, bool raw)
{
	static char text[2 * UNITS_SIZE + sizeof(" to ")];
	int64_t now_unix_ns = (int64_t)clock_unix_ns();

	*text = '\0';
	if (end)
		snprintf(text, sizeof(text), "%s to %s",
			 units_duration(row_most(row_subtract(end->earliest_unix_ns, now_unix_ns), 0), raw),
			 units_duration(row_most(row_subtract(end->latest_unix_ns, now_unix_ns), 0), raw));
	return text;
}

void living_print_warnings(const struct live *live, const struct output *output, size_t most)
{
	size_t count = live->warning_count;
	struct output_flow flow;

	output_flow_begin(&flow, output);
	for (size_t i = 0; i < count && i < most; i++) {
		const struct live_warning *warning = &live->warnings[i];

		output_print(&flow.inner, STYLE_WARNING, "%s %s", units_id(warning->run_id, true),
			     warning->run ? warning->run : "-");
		output_print(&flow.inner, STYLE_PLAIN, ": %s\n", warning->sentence);
	}
	if (count > most)
		output_print(&flow.inner, STYLE_DIM, "%s: see tracer runs\n",
			     units_counted((int64_t)(count - most), false, "more warning", "more warnings"));
	output_flow_end(&flow, 2);
}
