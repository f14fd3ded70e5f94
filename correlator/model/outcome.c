/* See outcome.h. */
#include "correlator/model/outcome.h"

#include <signal.h>

void outcome_init(struct outcome *outcome)
{
	*outcome = (struct outcome){.exit_code = ROW_NULL, .signal = ROW_NULL};
}

/* What is known of the roots, the least first: the first of the greatest decides. A writer whose reader closed the pipe
 * has hardly failed. */
enum verdict { UNKNOWN, SUCCESS, BROKEN_PIPE, FAILURE };

static enum verdict verdict_of(const struct outcome *outcome)
{
	if (outcome->signal != ROW_NULL)
		return outcome->signal == SIGPIPE ? BROKEN_PIPE : FAILURE;
	if (outcome->exit_code == ROW_NULL)
		return UNKNOWN;
	return outcome->exit_code == 0 ? SUCCESS : FAILURE;
}

bool outcome_add(struct outcome *sum, const struct outcome *part)
{
	bool part_decides = verdict_of(part) > verdict_of(sum);

	sum->root_count += part->root_count;
	sum->living_roots += part->living_roots;
	if (part->end_boot_ns > sum->end_boot_ns)
		sum->end_boot_ns = part->end_boot_ns;
	if (part_decides) {
		sum->exit_code = part->exit_code;
		sum->signal = part->signal;
	}
	return part_decides && verdict_of(part) > SUCCESS;
}

/* As a shell with pipefail: one failed part fails the whole, but a writer
 * whose reader closed the pipe (SIGPIPE) has not failed. */
enum outcome_status outcome_status(const struct outcome *outcome, bool is_running)
{
	enum verdict verdict = verdict_of(outcome);

	if (outcome->living_roots > 0 || (verdict == UNKNOWN && is_running))
		return OUTCOME_RUNNING;
	if (verdict == UNKNOWN)
		return OUTCOME_ENDED;
	if (verdict == SUCCESS || (verdict == BROKEN_PIPE && outcome->root_count > 1))
		return OUTCOME_SUCCEEDED;
	return outcome->signal != ROW_NULL ? OUTCOME_KILLED : OUTCOME_FAILED;
}

void outcome_add_root(struct outcome *outcome, bool has_ended)
{
	outcome->root_count++;
	outcome->living_roots += !has_ended;
}

bool outcome_note(struct outcome *outcome, int64_t wait_status, uint64_t boot_ns)
{
	bool is_known = wait_status != ROW_NULL;
	int64_t signal = is_known && wait_status & 0x7f ? wait_status & 0x7f : ROW_NULL;
	struct outcome root = {
		.exit_code = is_known && signal == ROW_NULL ? wait_status >> 8 & 0xff : ROW_NULL,
		.signal = signal,
		.end_boot_ns = boot_ns,
	};

	if (outcome->living_roots > 0)
		outcome->living_roots--;
	return outcome_add(outcome, &root);
}
