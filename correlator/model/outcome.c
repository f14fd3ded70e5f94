/* See outcome.h. */
#include "correlator/model/outcome.h"

#include <signal.h>

void outcome_init(struct outcome *outcome)
{
	*outcome = (struct outcome){.exit_code = ROW_NULL, .signal = ROW_NULL};
}

void outcome_add(struct outcome *sum, const struct outcome *part)
{
	sum->root_count += part->root_count;
	sum->living_roots += part->living_roots;
	if (part->end_boot_ns > sum->end_boot_ns)
		sum->end_boot_ns = part->end_boot_ns;
	if (part->known && (!sum->known || (part->failed && !sum->failed))) {
		sum->exit_code = part->exit_code;
		sum->signal = part->signal;
	}
	sum->known = sum->known || part->known;
	sum->failed = sum->failed || part->failed;
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
	if (outcome->living_roots > 0)
		outcome->living_roots--;
	if (boot_ns > outcome->end_boot_ns)
		outcome->end_boot_ns = boot_ns;
	if (wait_status == ROW_NULL)
		return false;
	bool failed = wait_status != 0;
	bool decides = !outcome->known || (failed && !outcome->failed) ||
		       (failed && outcome->signal == SIGPIPE && (wait_status & 0x7f) != SIGPIPE);

	if (decides) {
		outcome->signal = wait_status & 0x7f ? wait_status & 0x7f : ROW_NULL;
		outcome->exit_code = wait_status & 0x7f ? ROW_NULL : wait_status >> 8 & 0xff;
	}
	outcome->known = true;
	outcome->failed = outcome->failed || failed;
	return decides && failed;
}
