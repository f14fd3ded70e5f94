/* The name of a run and the user it belongs to.
 *
 * A run is named after what was asked for: a rule's name for it, the script, the command line of
 * `sh -c`, the program. A workflow engine that drives it takes precedence. If nothing was asked for
 * explicitly (a shell that reads its commands from standard input), its first programs name it.
 *
 * The user is that of the command itself: su, sudo and similar wrappers change the user before they
 * execute it.
 */
#include "correlator/placement/run_name.h"

#include <stdio.h>

#include "common/shell.h"
#include "correlator/model/group.h"
#include "correlator/model/model.h"
#include "correlator/model/process.h"
#include "correlator/model/run.h"
#include "correlator/placement/classify.h"
#include "correlator/placement/origin.h"

#define COMMAND_WHOLE_MAX 60 /* bytes of a command line that is used unchanged as the name */
#define COMMAND_SHORT_MAX 80 /* bytes of one whose arguments are left out */
#define ELLIPSIS "…"
#define BETWEEN_COMMANDS " \t\r\n;"

/* ---- command lines of `sh -c` */

/* A name; add() appends as much as fits. */
struct name_text {
	char text[RULES_NAME_MAX];
	size_t size;
};

static void add(struct name_text *name, const char *text, size_t size)
{
	if (size > sizeof(name->text) - 1 - name->size)
		size = sizeof(name->text) - 1 - name->size;
	memcpy(name->text + name->size, text, size);
	name->size += size;
	name->text[name->size] = '\0';
}

/* One simple command of a command line, and the operator that follows it. */
struct element {
	const char *text;
	size_t size, operator_size;
};

/* Returns the size of the operator at `text` that ends a simple command, or 0. Those in `2>&1`,
 * `&>x` and `>|x` do not end one. */
static size_t operator_size(const char *text, char before)
{
	if (*text == '&' && text[1] == '&')
		return 2;
	if (*text == '&')
		return before != '>' && before != '<' && text[1] != '>';
	if (*text == '|')
		return before == '>' ? 0 : text[1] == '|' || text[1] == '&' ? 2 : 1;
	return *text && strchr("\n;()", *text);
}

/* Reads the simple command at `text`. Returns where the next begins, or NULL if there is none here. */
static const char *take_element(const char *text, struct element *ret)
{
	size_t size = 0;

	text += strspn(text, BETWEEN_COMMANDS);
	if (!*text)
		return NULL;
	*ret = (struct element){.text = text};
	while (text[size] && !(ret->operator_size = operator_size(text + size, size ? text[size - 1] : '\0'))) {
		size_t word = shell_word_size(text + size, SIZE_MAX);

		size += word ? word : 1;
	}
	for (ret->size = size; ret->size > 0 && strchr(" \t\r", text[ret->size - 1]);)
		ret->size--;
	return text + size + ret->operator_size;
}

/* Adds the base name of the element's first word, and an ellipsis for its arguments. */
static void add_program(struct name_text *name, const struct element *element)
{
	size_t size = shell_word_size(element->text, element->size);
	const char *slash = memrchr(element->text, '/', size);
	const char *base = slash && slash + 1 < element->text + size ? slash + 1 : element->text;

	add(name, base, (size_t)(element->text + size - base));
	if (size < element->size)
		add(name, " " ELLIPSIS, strlen(" " ELLIPSIS));
}

/* Writes the command line on one line; `whole`: with arguments. Returns the number of its simple commands. */
static int command_summarize(const char *command, bool whole, struct name_text *ret)
{
	struct element element;
	int count = 0;

	*ret = (struct name_text){.size = 0};
	for (; (command = take_element(command, &element)); count++) {
		const char *behind = element.operator_size ? command - element.operator_size : "";

		if (ret->size > 0)
			add(ret, " ", 1);
		if (ret->size > COMMAND_SHORT_MAX && !whole) {
			add(ret, ELLIPSIS, strlen(ELLIPSIS));
			return count;
		}
		if (whole)
			add(ret, element.text, element.size);
		else
			add_program(ret, &element);
		if (*behind == '&' || *behind == '|')
			add(ret, " ", 1);
		add(ret, *behind == '\n' ? ";" : behind, element.operator_size);
	}
	while (ret->size > 0 && strchr("; ", ret->text[ret->size - 1]))
		ret->text[--ret->size] = '\0';
	return count;
}

/* Returns false for a simple command, which is described just as well by its program. */
static bool command_name(const char *command, struct name_text *ret)
{
	if (command_summarize(command, true, ret) < 2)
		return false;
	if (ret->size > COMMAND_WHOLE_MAX)
		command_summarize(command, false, ret);
	return ret->size > 0;
}

/* ---- programs side by side */

/* A pipeline is named after its programs, "a | b"; a shell that reads its commands from standard
 * input after the first ones, "a + b". Both in the order in which they were forked. */
static void run_add_part(struct model *model, struct run *run, const struct process *process, const char *name,
			 const char *glue, enum run_name_priority priority)
{
	struct name_text text = {.size = 0};
	struct run_part part = {.start_boot_ns = process->key.start_boot_ns};
	int at = run->parts.count;

	if (priority < run->name_priority || (priority == run->name_priority && at == 0))
		return;
	if (priority > run->name_priority)
		at = run->parts.count = 0;
	for (int i = 0; i < run->parts.count; i++)
		if (strncmp(run->parts.item[i].name, name, sizeof(part.name) - 1) == 0)
			return;
	if (at == RUN_PARTS_MAX)
		return;
	snprintf(part.name, sizeof(part.name), "%.*s", (int)sizeof(part.name) - 1, name);
	for (; at > 0 && run->parts.item[at - 1].start_boot_ns > part.start_boot_ns; at--)
		run->parts.item[at] = run->parts.item[at - 1];
	run->parts.item[at] = part;
	run->parts.count++;
	for (int i = 0; i < run->parts.count; i++) {
		if (i > 0)
			add(&text, glue, strlen(glue));
		add(&text, run->parts.item[i].name, strlen(run->parts.item[i].name));
	}
	model_set_text(model, &run->name, text.text);
	run->name_priority = priority;
	run_set_dirty(model, run);
}

/* ---- */

static void note_engine(struct model *model, struct run *run, const struct rules_class *class)
{
	if (class->rank <= run->engine_rank)
		return;
	run->engine_rank = class->rank;
	model_set_text(model, &run->engine, class->engine[0] ? class->engine : class->name);
	run_set_dirty(model, run);
}

/* Programs that a run is named after only if there is nothing else. */
static bool is_glue(const struct rules_class *class)
{
	return class->role == RULES_ROLE_HELPER || class->role == RULES_ROLE_COMPONENT ||
	       class->role == RULES_ROLE_STARTER;
}

static const char *name_of(const struct rules_class *class)
{
	return class->run_name[0] ? class->run_name : class->name;
}

/* `front`: it is what the run was asked to do, directly or through wrappers. */
static void name_by_program(struct model *model, struct run *run, const struct process *process,
			    const struct rules_class *class, bool front)
{
	enum run_name_priority priority = front ? RUN_NAME_ASKED : RUN_NAME_PROGRAM;
	bool is_shell = class->role == RULES_ROLE_SHELL;
	bool is_nameless = is_shell && !classify_names_script(process, class);
	const char *name = name_of(class);
	struct name_text text;

	if (class->rank)
		run_set_name(model, run, name, front ? RUN_NAME_ASKED : RUN_NAME_PARALLEL);
	else if (front && is_nameless && class->command && model->options.arguments != REDACT_PROGRAM_ONLY &&
		 command_name(class->command, &text))
		run_set_name(model, run, text.text, RUN_NAME_ASKED);
	else if (is_nameless || is_glue(class))
		run_set_name(model, run, name, RUN_NAME_GLUE);
	else if (front ? !is_shell : process->parent && process->parent->is_run_root)
		run_add_part(model, run, process, name, front ? " | " : " + ", priority);
	else
		run_set_name(model, run, name, priority);
}

/* A program in a task no longer names the run, except a workflow engine started by make or the like. */
static bool may_name(const struct run *run, const struct process *process, const struct rules_class *class)
{
	return process->group->task == run->main ||
	       (process->parent && process->parent->is_run_root && run->name_priority <= RUN_NAME_PROGRAM) ||
	       (class->rank == RULES_RANK_WORKFLOW && run->engine_rank == RULES_RANK_PARALLEL);
}

void run_name_note_image(struct model *model, struct run *run, const struct process *process,
			 const struct rules_class *class, bool behind_wrapper)
{
	bool front = origin_leads_to(run, process);
	char key[RULES_NAME_MAX];

	if (front && behind_wrapper && run->user_id != process->uid) {
		run->user_id = process->uid;
		run_set_dirty(model, run);
	}
	if (!may_name(run, process, class) || (run->kind == RUN_SESSION && !front))
		return;
	note_engine(model, run, class);
	if (class->rank == RULES_RANK_WORKFLOW)
		run_set_name(model, run, name_of(class), RUN_NAME_WORKFLOW);
	else if (front && class->run_name[0] && !class->rank)
		run_set_name(model, run, class->run_name, RUN_NAME_RULED);
	else if (class->role == RULES_ROLE_WRAPPER)
		run_set_name(model, run, name_of(class), RUN_NAME_WRAPPER);
	else
		name_by_program(model, run, process, class, front);
	if (class->run_key[0] && !run->run_key && run != model->system) {
		origin_earn_key(model, run, process, process->cgroup_id, class, key);
		model_set_text(model, &run->run_key, key);
		/* A daemon that creates no cgroups for its jobs: only the job script identifies them. */
		if (run->kind == RUN_COMMAND && run->reason == REASON_CHILD)
			run->kind = RUN_BATCH;
	}
}
