/* See outcome.h. */
#include "correlator/model/outcome.h"

#include <signal.h>

void outcome_init(struct outcome *outcome)
{
	*outcome = (struct outcome){.exit_code = ROW_NULL, .signal = ROW_NULL};
}

/* The first failure decides, unless it is that of a writer whose reader closed the pipe. */
static bool decides(const struct outcome *part, const struct outcome *sum)
{
	if (!part->failed)
		return part->known && !sum->known;
	return !sum->failed || (sum->signal == SIGPIPE && part->signal != SIGPIPE);
}

bool outcome_add(struct outcome *sum, const struct outcome *part)
{
	bool part_decides = decides(part, sum);

	sum->root_count += part->root_count;
	sum->living_roots += part->living_roots;
	if (part->end_boot_ns > sum->end_boot_ns)
		sum->end_boot_ns = part->end_boot_ns;
	if (part_decides) {
		sum->exit_code = part->exit_code;
		sum->signal = part->signal;
	}
	sum->known = sum->known || part->known;
	sum->failed = sum->failed || part->failed;
	return part_decides && part->failed;
}

/* As a shell with pipefail: one failed part fails the whole, but a writer
 * whose reader closed the pipe (SIGPIPE) has not failed. */
enum outcome_status outcome_status(const struct outcome *outcome, bool is_running)
{
	if (outcome->living_roots > 0 || (!outcome->known && is_running))
		return OUTCOME_RUNNING;
	if (!outcome->known)
		return OUTCOME_ENDED;
	if (!outcome->failed || (outcome->signal == SIGPIPE && outcome->root_count > 1))
		return OUTCOME_SUCCEEDED;
	return outcome->signal != ROW_NULL ? OUTCOME_KILLED : OUTCOME_FAILED;
}

bool outcome_note(struct outcome *outcome, int64_t wait_status, uint64_t boot_ns)
{
	bool is_known = wait_status != ROW_NULL;
	int64_t signal = is_known && wait_status & 0x7f ? wait_status & 0x7f : ROW_NULL;
	struct outcome root = {
		.exit_code = is_known && signal == ROW_NULL ? wait_status >> 8 & 0xff : ROW_NULL,
		.signal = signal,
		.known = is_known,
		.failed = is_known && wait_status != 0,
		.end_boot_ns = boot_ns,
	};

	if (outcome->living_roots > 0)
		outcome->living_roots--;
	return outcome_add(outcome, &root);
}
