/* See clock.h. */
#include "correlator/apply/clock.h"

#include <stdlib.h>

#include "common/duration.h"
#include "correlator/incidents/incident.h"
#include "correlator/model/model.h"
#include "correlator/model/run.h"

/* Clocks of hosts differ by as much (joined_runs), and adjustments by NTP are far smaller. */
#define CLOCK_STEP_NS (60 * INT64_C(1000000000))

/* How far the clock was set since it was last read, 0 if it was only adjusted. A new boot began after the previous one was
 * last seen: if its clock is earlier, one of them was wrong. How much too late it may be, nothing shows. */
static int64_t step_of(const struct row_host *host, int64_t offset_ns, int64_t unix_ns, bool is_new_boot)
{
	int64_t step_ns = is_new_boot ? unix_ns - host->last_seen_unix_ns : offset_ns - host->boot_unix_ns;

	return llabs(step_ns) < CLOCK_STEP_NS || (is_new_boot && step_ns > 0) ? 0 : step_ns;
}

/* Once. Without a run of the system, in a recording of one command, it is of no run. */
static void report(struct model *model, uint64_t boot_ns, int64_t step_ns)
{
	struct row_incident row = {
		.run_id = model->system ? model->system->id : ROW_NULL,
		.task_id = ROW_NULL,
		.process_id = ROW_NULL,
		.kind = "clock",
		.boot_ns = (int64_t)boot_ns,
		.end_boot_ns = ROW_NULL,
		.sender_process_id = ROW_NULL,
		.sender_user_id = ROW_NULL,
	};
	struct identity identity;
	char text[DURATION_SIZE];

	model_begin_identity(model, "clock", &identity);
	identity_add_u64(&identity, boot_ns);
	row.id = identity_end(&identity);
	incident_add(model, row, NULL, "the wall clock was set %s by %s: times from before are that much too %s",
		     step_ns < 0 ? "back" : "forward", duration_format(text, (uint64_t)llabs(step_ns), "µs"),
		     step_ns < 0 ? "late" : "early");
}

void clock_note(struct model *model, uint64_t boot_ns, uint64_t unix_ns, bool is_new_boot)
{
	struct row_host *host = &model->host;
	int64_t seen_unix_ns = (int64_t)unix_ns, offset_ns = seen_unix_ns - (int64_t)boot_ns;
	int64_t step_ns = step_of(host, offset_ns, seen_unix_ns, is_new_boot);

	if (step_ns < 0 && !is_new_boot && host->first_seen_unix_ns >= host->boot_unix_ns)
		host->first_seen_unix_ns += step_ns; /* in this boot */
	if (!host->first_seen_unix_ns || host->first_seen_unix_ns > seen_unix_ns)
		host->first_seen_unix_ns = seen_unix_ns;
	model->clock_offset_ns = host->boot_unix_ns = offset_ns;
	host->last_seen_unix_ns = seen_unix_ns;
	if (step_ns)
		report(model, boot_ns, step_ns);
}
