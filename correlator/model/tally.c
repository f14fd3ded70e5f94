/* See tally.h. */
#include "correlator/model/tally.h"

void tally_add(struct tally *sum, const struct tally *part, int sign)
{
	totals_add(&sum->totals, &part->totals, sign);
	sum->process_count += sign * part->process_count;
	sum->living_count += sign * part->living_count;
	sum->failed_count += sign * part->failed_count;
	sum->partial_count += sign * part->partial_count;
	if (sign < 0)
		return;
	tally_raise(&sum->peak_rss_bytes, part->peak_rss_bytes);
	tally_raise(&sum->gpu_peak_bytes, part->gpu_peak_bytes);
	tally_raise(&sum->requested_thread_count, part->requested_thread_count);
	tally_raise(&sum->core_limit_milli, part->core_limit_milli);
	tally_raise(&sum->inner_core_limit_milli, part->inner_core_limit_milli);
	if (part->begin_boot_ns && (sum->begin_boot_ns == 0 || part->begin_boot_ns < sum->begin_boot_ns)) {
		sum->begin_boot_ns = part->begin_boot_ns;
		sum->started_unix_ns = part->started_unix_ns;
	}
	if (part->end_boot_ns > sum->end_boot_ns)
		sum->end_boot_ns = part->end_boot_ns;
}
