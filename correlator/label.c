/* Labels: what tells a task from its siblings, the tasks of the same kind in its run.
 *
 * An engine's own word for it (a rule's `task_label`) is best. Else the label is made of the words
 * of the first command line in the task that is not glue, those that its siblings do not have:
 * words.h. So a run remembers of each kind which words all had so far. That set only shrinks, and
 * when it does, the labels of the siblings that are still in memory are made anew.
 */
#include "correlator/internal.h"

#include <stdlib.h>
#include <string.h>

#include "common/identity.h"

static struct siblings *siblings_find(const struct run *run, uint64_t kind)
{
	struct siblings *siblings;

	DL_SEARCH_SCALAR(run->siblings, siblings, kind, kind);
	return siblings;
}

static struct siblings *siblings_new(struct model *model, struct run *run, uint64_t kind)
{
	struct siblings *siblings = run->siblings;

	if (run->siblings_count < SIBLINGS_MAX) {
		siblings = model_alloc(model, sizeof(*siblings));
		if (!siblings)
			return NULL;
		run->siblings_count++;
	} else {
		DL_DELETE(run->siblings, siblings);
		*siblings = (struct siblings){0};
	}
	siblings->kind = kind;
	DL_APPEND(run->siblings, siblings);
	return siblings;
}

void siblings_free(struct run *run)
{
	struct siblings *siblings, *next;

	DL_FOREACH_SAFE (run->siblings, siblings, next)
		free(siblings);
	run->siblings = NULL;
	run->siblings_count = 0;
}

static void siblings_set_dirty(struct run *run, uint64_t kind)
{
	struct task *task;

	DL_FOREACH (run->tasks, task)
		if (task->words.data && task->words_kind == kind)
			task->dirty = true;
	run->dirty = true;
}

/* One more of its kind. */
static void siblings_add(struct model *model, struct task *task)
{
	struct run *run = task->run;
	struct siblings *siblings = siblings_find(run, task->words_kind);

	if (!siblings) {
		siblings = siblings_new(model, run, task->words_kind);
		if (siblings)
			common_words_init(&siblings->common, &task->words);
		run->dirty = true;
		return;
	}
	DL_DELETE(run->siblings, siblings);
	DL_APPEND(run->siblings, siblings);
	if (common_words_keep(&siblings->common, &task->words) || !siblings->several)
		siblings_set_dirty(run, siblings->kind);
	siblings->several = true;
}

static bool says_what_it_works_on(const struct rules_verdict *verdict)
{
	return verdict->role != RULES_ROLE_WRAPPER && verdict->role != RULES_ROLE_HELPER &&
	       verdict->role != RULES_ROLE_COMPONENT;
}

void label_note_image(struct model *model, struct task *task, const struct process *process,
		      const struct rules_verdict *verdict)
{
	if (task->label_fixed)
		return;
	if (verdict->task_label[0]) {
		model_set_text(model, &task->label, verdict->task_label);
		task->label_fixed = true;
		words_deinit(&task->words);
		return;
	}
	if (task->words.data || !process->command || !says_what_it_works_on(verdict) ||
	    model->arguments == REDACT_PROGRAM_ONLY)
		return;
	if (words_read(&process->command->subject, verdict->name, &task->words) < 0) {
		model->out_of_memory = true;
		return;
	}
	task->words_kind = words_kind(&task->words, verdict->name);
	siblings_add(model, task);
}

/* Not those that only forked: their command line is their parent's. */
static const struct image *image_after(const struct task *task, uint64_t begin_boot_ns)
{
	const struct image *image, *first = NULL;
	const struct group *group;
	const struct tool *tool;

	DL_FOREACH (task->groups, group)
		DL_FOREACH (group->tools, tool)
			DL_FOREACH (tool->images, image)
				if (image->process && image->own_command &&
				    image->begin_boot_ns > begin_boot_ns &&
				    (!first || image->begin_boot_ns < first->begin_boot_ns))
					first = image;
	return first;
}

void task_note_images(struct model *model, struct task *task)
{
	const struct image *image = image_after(task, 0);
	struct rules_verdict verdict;

	for (; image; image = image_after(task, image->begin_boot_ns)) {
		model_classify(model, image->process, &verdict);
		task_note_image(model, task, image->process, &verdict);
	}
}

void label_merge(struct task *into, struct task *from)
{
	if (into->label_fixed || (into->words.data && !from->label_fixed))
		return;
	words_deinit(&into->words);
	free(into->label);
	into->label = from->label;
	into->label_fixed = from->label_fixed;
	into->words = from->words;
	into->words_kind = from->words_kind;
	from->label = NULL;
	from->words = (struct words){0};
}

/* True: the command line before had the same stem, so whole words have to tell them apart. */
static bool siblings_note_stem(struct siblings *siblings, const struct task *task, const char *stem)
{
	struct identity identity;
	uint32_t stem_hash, hash = words_hash(&task->words);

	identity_begin(&identity, "stem");
	identity_add_bytes(&identity, stem, strlen(stem));
	stem_hash = (uint32_t)identity_end(&identity);
	if (siblings->stem_hash == stem_hash && siblings->stem_words_hash != hash) {
		siblings->whole_words = true;
		siblings_set_dirty(task->run, siblings->kind);
	}
	siblings->stem_hash = stem_hash;
	siblings->stem_words_hash = hash;
	return siblings->whole_words;
}

/* True: its siblings' labels are to be made anew. */
static bool task_set_label(struct model *model, struct task *task)
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
		again = siblings_note_stem(siblings, task, label);
	if (!task->label || strcmp(task->label, label) != 0)
		model_set_text(model, &task->label, label);
	return again;
}

void run_set_texts(struct model *model, struct run *run)
{
	struct task *task;
	bool again = true;

	while (again) {
		again = false;
		DL_FOREACH (run->tasks, task)
			if (task->dirty) {
				task_set_name(task);
				again = task_set_label(model, task) || again;
			}
	}
}
