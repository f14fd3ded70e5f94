/* Zombies hold no processor or memory, but each a process id, of which a cgroup and a host have a limited number.
 * A parent that has held ZOMBIES_LEAST of them in every scan for HELD_NS gets one incident, which is written again
 * when there are twice as many, and ends when they are fewer. Programs that wait for their children one by one hold
 * some for a while: that is no fault. What is orphaned counts for the process that adopted it.
 */
#include "correlator/incidents/zombies.h"

#include "correlator/incidents/incident.h"
#include "correlator/incidents/sentence.h"
#include "correlator/model/group.h"
#include "correlator/model/image.h"
#include "correlator/model/model.h"
#include "correlator/model/process.h"
#include "correlator/model/task.h"
#include "correlator/model/tool.h"

#define ZOMBIES_LEAST 100
#define HELD_NS (600 * UINT64_C(1000000000))

static void report(struct model *model, struct process *process, uint64_t end_boot_ns)
{
	const struct image *image = process->image;
	struct row_incident row =
		incident_row(image->tool->group->task, image->id, "zombies", process->zombies.since_boot_ns);
	struct sentence sentence = {.size = 0};

	sentence_add_zombies(&sentence, process, end_boot_ns != 0);
	if (end_boot_ns)
		row.end_boot_ns = (int64_t)end_boot_ns;
	incident_add(model, row, sentence.text, NULL);
	process_set_changed(model, process);
}

void zombies_note(struct model *model, const struct image_key *parent)
{
	struct process *process = process_find(model, process_key_of(parent));

	if (process)
		process->zombies.count++;
}

void zombies_end(struct model *model, struct process *process, uint64_t boot_ns)
{
	if (process->zombies.reported_count)
		report(model, process, boot_ns);
	process->zombies = (struct zombies){0};
}

void zombies_take(struct model *model, struct process *process, uint64_t boot_ns)
{
	struct zombies *zombies = &process->zombies;
	uint32_t count = zombies->count;

	zombies->count = 0;
	if (!process->sampled_boot_ns) /* since the start only some were noted */
		return;
	if (count < ZOMBIES_LEAST) {
		zombies_end(model, process, boot_ns);
		return;
	}
	if (!zombies->since_boot_ns)
		zombies->since_boot_ns = boot_ns;
	if (boot_ns - zombies->since_boot_ns < HELD_NS || count < 2 * zombies->reported_count)
		return;
	zombies->reported_count = count;
	report(model, process, 0);
}
