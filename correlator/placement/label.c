/* Labels: what distinguishes a task from its siblings, the tasks of the same kind in its run.
 *
 * The engine's own label (a rule's `task_label`) is best. Otherwise the label consists of those words
 * of the task's first command line, glue and code excluded, that its siblings do not have: words.h. For each
 * kind, a run therefore remembers the words that all tasks so far have in common. That set only
 * shrinks, and when it does, the labels of siblings still in memory are rebuilt.
 */
#include "correlator/placement/label.h"

#include <utlist.h>

#include "correlator/model/command.h"
#include "correlator/model/model.h"
#include "correlator/model/process.h"
#include "correlator/model/run.h"
#include "correlator/model/siblings.h"
#include "correlator/model/task.h"

static void siblings_set_dirty(struct model *model, struct run *run, uint64_t kind)
{
	struct task *task;

	DL_FOREACH (run->tasks, task)
		if (task->words.data && task->words_kind == kind)
			task_set_dirty(model, task);
	run_set_dirty(model, run);
}

/* Adds the task to its siblings. */
static void siblings_add(struct model *model, struct task *task)
{
	struct run *run = task->run;
	struct siblings *siblings = siblings_find(run, task->words_kind);

	if (!siblings) {
		siblings = siblings_new(model, run, task->words_kind);
		if (siblings)
			common_words_init(&siblings->common, &task->words);
		run_set_dirty(model, run);
		return;
	}
	DL_DELETE(run->siblings, siblings);
	DL_APPEND(run->siblings, siblings);
	if (common_words_keep(&siblings->common, &task->words) || !siblings->several)
		siblings_set_dirty(model, run, siblings->kind);
	siblings->several = true;
}

/* The words are those of the program that was forked first, a helper only if there is nothing else. */
static uint64_t words_rank(const struct process *process, const struct rules_class *class)
{
	return process->key.start_boot_ns | (uint64_t)(class->role == RULES_ROLE_HELPER) << 63;
}

static uint64_t kind_of(const char *name)
{
	struct identity identity;

	identity_begin(&identity, "words");
	identity_add_bytes(&identity, name, strlen(name));
	return (uint64_t)identity_end(&identity);
}

void label_note_image(struct model *model, struct task *task, const struct process *process,
		      const struct rules_class *class)
{
	uint64_t rank = words_rank(process, class);
	struct words words;
	char label[LABEL_MAX];

	if (task->label_fixed)
		return;
	if (class->task_label[0]) {
		model_set_text(model, &task->label, class->task_label);
		task->label_fixed = true;
		words_deinit(&task->words);
		return;
	}
	if ((task->words.data && rank >= task->words_rank) || !process->command || class->role == RULES_ROLE_WRAPPER ||
	    class->role == RULES_ROLE_COMPONENT || model->arguments == REDACT_PROGRAM_ONLY)
		return;
	if (words_read(&process->command->subject, class->name, class->command, &words) < 0) {
		model->out_of_memory = true;
		return;
	}
	words_label(&words, NULL, class->name, true, label);
	if (class->command && label[0] == '\0') { /* only code: what it starts says more */
		words_deinit(&words);
		return;
	}
	words_deinit(&task->words);
	task->words = words;
	task->words_rank = rank;
	task->words_kind = kind_of(class->name);
	siblings_add(model, task);
}

/* Returns true if whole words must distinguish the siblings: two in a row had the same stem. */
static bool siblings_note_stem(struct model *model, struct siblings *siblings, const struct task *task,
			       const char *stem)
{
	struct identity identity;
	uint32_t stem_hash, hash = words_hash(&task->words);

	identity_begin(&identity, "stem");
	identity_add_bytes(&identity, stem, strlen(stem));
	stem_hash = (uint32_t)identity_end(&identity);
	if (siblings->stem_hash == stem_hash && siblings->stem_words_hash != hash) {
		siblings->whole_words = true;
		siblings_set_dirty(model, task->run, siblings->kind);
	}
	siblings->stem_hash = stem_hash;
	siblings->stem_words_hash = hash;
	return siblings->whole_words;
}

bool label_set(struct model *model, struct task *task)
{
	const char *name = task->name ? task->name : "";
	struct siblings *siblings;
	char label[LABEL_MAX];
	bool again = false;

	if (task->label_fixed || !task->words.data)
		return false;
	siblings = siblings_find(task->run, task->words_kind);
	if (!siblings || !siblings->several)
		words_label(&task->words, NULL, name, true, label);
	else if (words_label(&task->words, &siblings->common, name, siblings->whole_words, label))
		again = siblings_note_stem(model, siblings, task, label);
	if (!task->label || strcmp(task->label, label) != 0)
		model_set_text(model, &task->label, label);
	return again;
}
