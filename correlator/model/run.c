/* See run.h. */
#include "correlator/model/run.h"

#include "correlator/model/model.h"

/* A session computes if its processes have used so much CPU time, and 1/COMPUTES_SHARE of a processor: more than a
 * shell, a terminal server or an agent that watches a host. */
#define COMPUTES_CPU_NS (60 * INT64_C(1000000000))
#define COMPUTES_SHARE 10

void run_set_name(struct model *model, struct run *run, const char *name, enum run_name_priority priority)
{
	if (priority <= run->name_priority)
		return;
	model_set_text(model, &run->name, name);
	run->name_priority = priority;
	run_set_dirty(model, run);
}

bool run_is_workload(const struct run *run)
{
	return run->kind <= RUN_CONTAINER;
}

void run_note_cpu(struct model *model, struct run *run)
{
	bool is_unlisted = run->kind == RUN_SESSION || (run->kind == RUN_HOST_SERVICE && run->reason == REASON_OF_USER);
	int64_t cpu_ns = run->tally.totals.cpu_ns;

	if (!is_unlisted || cpu_ns < COMPUTES_CPU_NS ||
	    cpu_ns * COMPUTES_SHARE < (int64_t)(model->now_boot_ns - run->tally.begin_boot_ns))
		return;
	run->kind = RUN_SERVICE;
	run_set_dirty(model, run);
}

void run_end_boot(struct model *model, struct run *run)
{
	if (run->boundary_key)
		HASH_DELETE(hh, model->runs_by_boundary, run);
	run->boundary_key = 0;
	run->of_past_boot = true;
}
