/* Warnings and expected ends as text. See living.h. */
#include "cli/report/living.h"

#include <stdio.h>

#include "analysis/query/units.h"
#include "common/clock.h"

#define SPAN_SIZE (2 * UNITS_SIZE + sizeof(" to "))

static const char *span_in(int64_t earliest_unix_ns, int64_t latest_unix_ns, bool raw, char text[SPAN_SIZE])
{
	int64_t now_unix_ns = (int64_t)clock_unix_ns();

	snprintf(text, SPAN_SIZE, "%s to %s",
		 units_duration(row_most(row_subtract(earliest_unix_ns, now_unix_ns), 0), raw),
		 units_duration(row_most(row_subtract(latest_unix_ns, now_unix_ns), 0), raw));
	return text;
}

const char *living_ends_in(const struct row_expected_end *end, bool raw)
{
	static char text[SPAN_SIZE];

	return end ? span_in(end->earliest_unix_ns, end->latest_unix_ns, raw, text) : "";
}

const char *living_progress(const struct row_file_progress *progress, bool raw)
{
	static char text[SPAN_SIZE + 2 * UNITS_SIZE + sizeof(" of , ")];
	char span[SPAN_SIZE];

	if (!progress)
		return "";
	snprintf(text, sizeof(text), "%s of %s, %s",
		 units_share(progress->file_position_bytes, progress->file_size_bytes),
		 units_bytes(progress->file_size_bytes, raw),
		 span_in(progress->earliest_unix_ns, progress->latest_unix_ns, raw, span));
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
