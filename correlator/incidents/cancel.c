/* Commands that cancelled batch jobs.
 *
 * The daemon of a batch system ends a job in the same way whether it reached its time limit or was
 * cancelled. But the cancelling command may have been seen if it ran on this host: it names the job,
 * and its user is allowed to. If none was seen, it may have run elsewhere. Rules say which programs cancel jobs;
 * of which batch system does not matter: a host has one, and commands of one imitate those of others.
 */
#include "correlator/incidents/cancel.h"

#include <stdio.h>

#include <utlist.h>

#include "correlator/model/command.h"
#include "correlator/model/container.h"
#include "correlator/model/container_member.h"
#include "correlator/model/model.h"
#include "correlator/model/process.h"
#include "correlator/model/run.h"
#include "correlator/model/task.h"

/* If a job still runs this long after a cancel command, the command may not have cancelled it. */
#define CANCEL_NS (60 * UINT64_C(1000000000))

/* "7", "7.0", "7_1" and "7[]" name job 7. */
static bool argument_names(const char *argument, const char *number)
{
	size_t size = strspn(number, "0123456789");

	return size > 0 && strncmp(argument, number, size) == 0 && strchr("._[", argument[size]);
}

/* A word after an option may be its value. */
static bool command_names(const struct command *command, const char *number)
{
	bool behind_option = false;

	for (size_t i = 1; i < command->subject.argc; i++) {
		const char *word = command->subject.argv[i];

		if (!behind_option && argument_names(word, number))
			return true;
		behind_option = word[0] == '-' && !strchr(word, '=');
	}
	return false;
}

/* Only root and the job's user may cancel it. Root in a container may be anyone. */
void cancel_note(struct model *model, const struct process *process, uint64_t boot_ns)
{
	struct container *container = container_of_process(model, process);
	struct run *run;

	DL_FOREACH (model->runs, run) {
		const char *number = strchr(run->run_key, ':');

		if (run->kind != RUN_BATCH || !number || (process->uid != 0 && process->uid != run->user_id) ||
		    (container && container != run->main->container) || !command_names(process->command, number + 1))
			continue;
		run->cancel =
			(struct cancel){.boot_ns = boot_ns, .pid = (uint32_t)process->key.pid, .uid = process->uid};
		snprintf(run->cancel.program, sizeof(run->cancel.program), "%s", process->command->program);
	}
}

const struct cancel *cancel_find(const struct run *run, uint64_t boot_ns)
{
	uint64_t since = run->cancel.boot_ns;
	bool explains = since != 0 && since <= boot_ns && boot_ns - since < CANCEL_NS;

	return explains ? &run->cancel : NULL;
}
