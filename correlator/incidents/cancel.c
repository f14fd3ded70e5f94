/* Commands that cancelled batch jobs.
 *
 * The daemon of a batch system ends a job in the same way whether it reached its time limit or was
 * cancelled. But the cancelling command may have been seen if it ran on this host: it names the job,
 * and its user is allowed to. If none was seen, it may have run elsewhere.
 */
#include "correlator/incidents/cancel.h"

#include <utlist.h>

#include "correlator/model/command.h"
#include "correlator/model/container.h"
#include "correlator/model/container_member.h"
#include "correlator/model/model.h"
#include "correlator/model/process.h"
#include "correlator/model/run.h"

/* If a job still runs this long after a cancel command, the command may not have cancelled it. */
#define CANCEL_NS (60 * UINT64_C(1000000000))

/* Programs, with the prefix of the run keys that the rules give to their jobs. */
static const struct canceller {
	const char *program, *jobs;
} cancellers[] = {
	{"scancel", "slurm:"},
	{"qdel", "pbs:"},
	{"qdel", "sge:"},
	{"bkill", "lsf:"},
};

/* "7", "7.0", "7_1" and "7[]" name job 7. */
static bool argument_names(const char *argument, const char *number)
{
	size_t size = strspn(number, "0123456789");

	return size > 0 && strncmp(argument, number, size) == 0 && strchr("._[", argument[size]);
}

/* A word after an option may be its value; -s and --signal only send a signal. */
static bool command_cancels(const struct command *command, const char *number)
{
	const char *word = command->arguments, *end = word + command->arguments_size;
	bool names = false, behind_option = false;

	for (; word < end; word += strlen(word) + 1) {
		if (strncmp(word, "-s", 2) == 0 || strncmp(word, "--signal", 8) == 0)
			return false;
		names = names || (!behind_option && argument_names(word, number));
		behind_option = word[0] == '-' && !strchr(word, '=');
	}
	return names;
}

/* Only root and the job's user may cancel it. Root in a container may be anyone. */
static void note_jobs(struct model *model, const struct process *process, uint64_t boot_ns,
		      const struct canceller *canceller)
{
	size_t size = strlen(canceller->jobs);
	struct container *container = container_of_process(model, process);
	struct run *run;

	DL_FOREACH (model->runs, run) {
		if (strncmp(run->run_key, canceller->jobs, size) != 0 ||
		    (process->uid != 0 && process->uid != run->user_id) || (container && container != run->container) ||
		    !command_cancels(process->command, run->run_key + size))
			continue;
		run->cancel = (struct cancel){.boot_ns = boot_ns,
					      .program = canceller->program,
					      .pid = (uint32_t)process->key.pid,
					      .uid = process->uid};
	}
}

/* Called for every exec; most programs differ in the first byte. */
static bool is_called(const char *program, const char *name)
{
	return program[0] == name[0] && strcmp(program, name) == 0;
}

void cancel_note(struct model *model, const struct process *process, uint64_t boot_ns)
{
	for (size_t i = 0; i < sizeof(cancellers) / sizeof(*cancellers); i++)
		if (is_called(process->command->program, cancellers[i].program))
			note_jobs(model, process, boot_ns, &cancellers[i]);
}

const struct cancel *cancel_find(const struct run *run, uint64_t boot_ns)
{
	uint64_t since = run->cancel.boot_ns;
	bool explains = since != 0 && since <= boot_ns && boot_ns - since < CANCEL_NS;

	return explains ? &run->cancel : NULL;
}
