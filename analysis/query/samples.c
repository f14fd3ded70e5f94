/* Which sample each task worked on. See samples.h. */
#include "analysis/query/samples.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "common/grow.h"

#define STEPS_LEAST 3           /* of a key */
#define PARTIAL_SHARE_LEAST 0.6 /* of its steps with several tasks: those where it occurs in only some */
#define CHILD_STEPS_LEAST 0.7   /* a longer key is better if it keeps so many of the steps, */
#define CHILD_TASKS_LEAST 0.85  /* and if all that do so keep so many of the tasks */
#define ALIAS_SHARE_LEAST 0.9   /* two keys of the same tasks are one */
#define FIT_SHARE_LEAST 0.5     /* fitness: more of the steps with several tasks, and of their tasks, must fit */
#define KEY_BYTES_LEAST 2
#define WORD_BYTES_MAX 256

struct key {
	UT_hash_handle hh; /* by text */
	size_t *tasks;     /* in which it occurs, in order */
	size_t count, capacity;
	size_t step_count;
	bool is_chosen;
	struct key *same_as; /* another that occurs in the same tasks */
	int index;           /* in the result */
	char text[];
};

struct step {
	UT_hash_handle hh; /* by name */
	size_t task_count;
	size_t seen;       /* tasks of this step in which the key at hand occurs */
	size_t first_task; /* the others follow in next_of_step */
	char name[];
};

struct inference {
	const struct sample_names *names; /* NULL: by rules, or to be inferred */
	bool is_by_rules;
	const struct samples_task *tasks;
	size_t count;
	struct step *steps, **step_of;
	size_t *next_of_step; /* SIZE_MAX after the last */
	struct key *keys;
	struct key **sorted; /* candidates by text: each is followed by all that it begins */
	size_t key_count;
};

static bool is_given(const struct inference *inference)
{
	return inference->names || inference->is_by_rules;
}

/* ---- keys of words -------------------------------------------------------------------- */

static int key_note(struct key *key, size_t task)
{
	size_t *grown;

	if (key->count > 0 && key->tasks[key->count - 1] == task)
		return 0;
	grown = grow(key->tasks, &key->capacity, key->count + 1, sizeof(*key->tasks));
	if (!grown)
		return -ENOMEM;
	key->tasks = grown;
	key->tasks[key->count++] = task;
	return 0;
}

static int key_add(struct inference *inference, const char *text, size_t size, size_t task)
{
	struct key *key;

	HASH_FIND(hh, inference->keys, text, size, key);
	if (key)
		return key_note(key, task);
	if (HASH_COUNT(inference->keys) == SAMPLES_KEYS_MAX)
		return 0;
	key = calloc(1, sizeof(*key) + size + 1);
	if (!key)
		return -ENOMEM;
	memcpy(key->text, text, size);
	HASH_ADD_KEYPTR(hh, inference->keys, key->text, size, key);
	return key_note(key, task);
}

static bool is_separator(char c)
{
	return c == '.' || c == '_' || c == '-';
}

/* Adds all beginnings of the word's last part that end at a separator, and the whole. */
static int word_add(struct inference *inference, const char *word, size_t task)
{
	const char *equals = strrchr(word, '='), *slash;
	size_t size;
	int error = 0;

	word = equals ? equals + 1 : word;
	slash = strrchr(word, '/');
	word = slash ? slash + 1 : word;
	size = strlen(word);
	if (size > WORD_BYTES_MAX || *word == '-' || !isalnum((unsigned char)*word))
		return 0;
	for (size_t i = KEY_BYTES_LEAST; i <= size && error == 0; i++)
		if ((i == size || is_separator(word[i])) && !is_separator(word[i - 1]))
			error = key_add(inference, word, i, task);
	return error;
}

/* Adds the names in the word that the user gave. */
static int word_add_names(struct inference *inference, const char *word, size_t task)
{
	const char *name;
	size_t at = 0, size;
	int error = 0;

	while (error == 0 && sample_names_next(inference->names, word, &at, &name, &size))
		error = key_add(inference, name, size, task);
	return error;
}

/* Adds the keys of a task. */
static int task_add(struct inference *inference, size_t index)
{
	const struct samples_task *task = &inference->tasks[index];
	int error = 0;

	for (size_t i = 0; i < task->sample_count && error == 0; i++)
		error = key_add(inference, task->samples[i], strlen(task->samples[i]), index);
	for (size_t i = 0; i < task->word_count && error == 0 && !inference->is_by_rules; i++)
		error = (inference->names ? word_add_names : word_add)(inference, task->words[i], index);
	return error;
}

/* ---- candidates ------------------------------------------------------------------------ */

/* Whether the key recurs in several steps, and tells their tasks apart. Numbers alone, such as of threads, do not
 * name a sample. */
static bool key_is_candidate(const struct inference *inference, struct key *key)
{
	size_t several = 0, partial = 0;

	for (size_t i = 0; i < key->count; i++)
		inference->step_of[key->tasks[i]]->seen = 0;
	key->step_count = 0;
	for (size_t i = 0; i < key->count; i++)
		key->step_count += inference->step_of[key->tasks[i]]->seen++ == 0;
	for (size_t i = 0; i < key->count; i++) {
		struct step *step = inference->step_of[key->tasks[i]];

		if (step->seen == 0)
			continue;
		several += step->task_count > 1;
		partial += step->task_count > 1 && step->seen < step->task_count;
		step->seen = 0;
	}
	return key->step_count >= STEPS_LEAST && partial > 0 &&
	       (double)partial >= PARTIAL_SHARE_LEAST * (double)several &&
	       key->text[strspn(key->text, "0123456789.,_-")];
}

/* Separators come before all else, so that a key is followed by all that it begins. */
static int compare_keys(const void *left, const void *right)
{
	const char *a = (*(struct key *const *)left)->text, *b = (*(struct key *const *)right)->text;

	while (*a && *a == *b) {
		a++;
		b++;
	}
	if (*a && *b && is_separator(*a) != is_separator(*b))
		return is_separator(*a) ? -1 : 1;
	return (int)(unsigned char)*a - (int)(unsigned char)*b;
}

static bool begins(const struct key *key, const struct key *longer)
{
	size_t size = strlen(key->text);

	return strncmp(key->text, longer->text, size) == 0 && is_separator(longer->text[size]);
}

static size_t descendants_end(const struct inference *inference, size_t index)
{
	size_t end = index + 1;

	while (end < inference->key_count && begins(inference->sorted[index], inference->sorted[end]))
		end++;
	return end;
}

/* Chooses the key, or those that are longer by one part, if these are better: if enough of the steps and tasks are
 * left with them. `covered` has room for each task. */
static void key_choose(struct inference *inference, size_t index, bool *covered)
{
	struct key *key = inference->sorted[index];
	size_t end = descendants_end(inference, index), covered_count = 0;
	double least = CHILD_STEPS_LEAST * (double)key->step_count;

	for (size_t i = 0; i < key->count; i++)
		covered[key->tasks[i]] = false;
	for (size_t i = index + 1; i < end; i = descendants_end(inference, i)) {
		const struct key *child = inference->sorted[i];

		for (size_t j = 0; (double)child->step_count >= least && j < child->count; j++) {
			covered_count += !covered[child->tasks[j]];
			covered[child->tasks[j]] = true;
		}
	}
	if (covered_count == 0 || (double)covered_count < CHILD_TASKS_LEAST * (double)key->count) {
		key->is_chosen = true;
		return;
	}
	for (size_t i = index + 1; i < end; i = descendants_end(inference, i))
		if ((double)inference->sorted[i]->step_count >= least)
			key_choose(inference, i, covered);
}

/* ---- the choice ------------------------------------------------------------------------ */

static size_t common_count(const struct key *left, const struct key *right)
{
	size_t common = 0;

	for (size_t i = 0, j = 0; i < left->count && j < right->count;) {
		common += left->tasks[i] == right->tasks[j];
		if (left->tasks[i] <= right->tasks[j])
			i++;
		else
			j++;
	}
	return common;
}

/* Merges chosen keys of the same tasks: a name and an accession, say. Only those that begin or end in the same task are
 * compared. */
static void aliases_merge(struct key **chosen, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct key *key = chosen[i];

		for (size_t j = 0; j < i && !key->same_as; j++) {
			struct key *other = chosen[j];
			size_t common;

			if (other->same_as || (key->tasks[0] != other->tasks[0] &&
					       key->tasks[key->count - 1] != other->tasks[other->count - 1]))
				continue;
			common = common_count(key, other);
			if ((double)common >= ALIAS_SHARE_LEAST * (double)(key->count + other->count - common))
				key->same_as = other;
		}
	}
}

static void tasks_assign(struct key **chosen, size_t count, struct samples *samples)
{
	for (size_t i = 0; i < count; i++) {
		int index = chosen[i]->same_as ? chosen[i]->same_as->index : chosen[i]->index;

		for (size_t j = 0; j < chosen[i]->count; j++) {
			int *of_task = &samples->of_task[chosen[i]->tasks[j]];

			*of_task = *of_task == SAMPLES_NONE || *of_task == index ? index : SAMPLES_SHARED;
		}
	}
}

/* ---- names ------------------------------------------------------------------------------ */

static bool is_taken(const struct samples *samples, const char *name, size_t size)
{
	for (size_t i = 0; i < samples->key_count; i++)
		if (strncmp(samples->keys[i], name, size) == 0 && samples->keys[i][size] == '\0')
			return true;
	return false;
}

/* Returns the size of the common beginning, which ends before a separator. */
static size_t common_size(const char *a, const char *b)
{
	size_t size = 0;

	while (a[size] && a[size] == b[size])
		size++;
	if ((!a[size] || is_separator(a[size])) && (!b[size] || is_separator(b[size])))
		return size;
	while (size > 0 && !is_separator(a[size]))
		size--;
	return size;
}

/* Two keys of one sample that begin with the same are reads 1 and 2, or a file and its index. */
static void names_join_aliases(struct key **chosen, size_t count, struct samples *samples)
{
	for (size_t i = 0; i < count; i++) {
		char *name;
		size_t size;

		if (!chosen[i]->same_as)
			continue;
		name = samples->keys[chosen[i]->same_as->index];
		size = common_size(name, chosen[i]->text);
		if (size >= KEY_BYTES_LEAST && !is_taken(samples, name, size))
			name[size] = '\0';
	}
}

/* Drops the last part that begins with a point if all names that have one have the same. Returns whether it did. */
static bool names_drop_extension(struct samples *samples)
{
	const char *extension = NULL;

	for (size_t i = 0; i < samples->key_count; i++) {
		const char *name = samples->keys[i], *point = strrchr(name, '.');

		if (point &&
		    ((extension && strcmp(point, extension) != 0) || (size_t)(point - name) < KEY_BYTES_LEAST ||
		     is_taken(samples, name, (size_t)(point - name))))
			return false;
		extension = point ? point : extension;
	}
	for (size_t i = 0; extension && i < samples->key_count; i++) {
		char *point = strrchr(samples->keys[i], '.');

		if (point)
			*point = '\0';
	}
	return extension != NULL;
}

/* ---- fitness ---------------------------------------------------------------------------- */

/* Whether most tasks of the step work on one sample each, and no two of them on the same. `last_step` has, of each
 * sample, the number of the last step with it. */
static bool step_fits(const struct inference *inference, const struct samples *samples, const struct step *step,
		      size_t number, size_t *last_step)
{
	size_t count = 0;

	for (size_t i = step->first_task; i != SIZE_MAX; i = inference->next_of_step[i]) {
		int key = samples->of_task[i];

		if (key < 0)
			continue;
		if (last_step[key] == number)
			return false;
		last_step[key] = number;
		count++;
	}
	return (double)count > FIT_SHARE_LEAST * (double)step->task_count;
}

/* Checks whether most steps have one task for each sample. A step of a single task does not count, however long it
 * takes: a merge of all samples and the index of a reference say nothing about how the others are told apart. */
static int fit_check(const struct inference *inference, struct samples *samples)
{
	size_t *last_step = calloc(samples->key_count + 1, sizeof(*last_step)), fitting = 0, several = 0;

	if (!last_step)
		return -ENOMEM;
	for (const struct step *step = inference->steps; step; step = step->hh.next) {
		if (step->task_count < 2)
			continue;
		several++;
		fitting += step_fits(inference, samples, step, several, last_step);
	}
	free(last_step);
	if (samples->key_count < 2)
		snprintf(samples->misfit, SAMPLES_MISFIT_SIZE, "fewer than two names recur in several steps");
	else if ((double)fitting <= FIT_SHARE_LEAST * (double)several)
		snprintf(samples->misfit, SAMPLES_MISFIT_SIZE, "only %zu of %zu steps have one task for each sample",
			 fitting, several);
	return 0;
}

/* ---- the whole -------------------------------------------------------------------------- */

static int steps_find(struct inference *inference)
{
	for (size_t i = inference->count; i-- > 0;) {
		const char *name = inference->tasks[i].name;
		struct step *step;

		HASH_FIND_STR(inference->steps, name, step);
		if (!step) {
			step = calloc(1, sizeof(*step) + strlen(name) + 1);
			if (!step)
				return -ENOMEM;
			strcpy(step->name, name);
			step->first_task = SIZE_MAX;
			HASH_ADD_STR(inference->steps, name, step);
		}
		step->task_count++;
		inference->step_of[i] = step;
		inference->next_of_step[i] = step->first_task;
		step->first_task = i;
	}
	return 0;
}

static int keys_find(struct inference *inference)
{
	struct key *key, *next;
	int error = 0;

	for (size_t i = 0; i < inference->count && error == 0; i++)
		error = task_add(inference, i);
	if (error == 0)
		inference->sorted = calloc(HASH_COUNT(inference->keys) + 1, sizeof(*inference->sorted));
	if (!inference->sorted)
		return -ENOMEM;
	HASH_ITER (hh, inference->keys, key, next)
		if (is_given(inference) || key_is_candidate(inference, key))
			inference->sorted[inference->key_count++] = key;
	qsort(inference->sorted, inference->key_count, sizeof(*inference->sorted), compare_keys);
	return 0;
}

/* Leaves only the chosen keys in `sorted`. `covered` has room for each task. */
static void keys_choose(struct inference *inference, bool *covered)
{
	size_t count = 0;

	for (size_t i = 0; i < inference->key_count; i = descendants_end(inference, i))
		key_choose(inference, i, covered);
	for (size_t i = 0; i < inference->key_count; i++)
		if (inference->sorted[i]->is_chosen)
			inference->sorted[count++] = inference->sorted[i];
	inference->key_count = count;
}

/* Names the samples, and assigns the tasks. */
static int samples_set(struct inference *inference, struct samples *samples)
{
	samples->keys = calloc(inference->key_count + 1, sizeof(*samples->keys));
	if (!samples->keys)
		return -ENOMEM;
	for (size_t i = 0; i < inference->key_count; i++) {
		struct key *key = inference->sorted[i];

		if (key->same_as)
			continue;
		key->index = (int)samples->key_count;
		samples->keys[samples->key_count] = strdup(key->text);
		if (!samples->keys[samples->key_count++])
			return -ENOMEM;
	}
	tasks_assign(inference->sorted, inference->key_count, samples);
	return 0;
}

static void inference_free(struct inference *inference)
{
	struct step *step, *next_step;
	struct key *key, *next_key;

	HASH_ITER (hh, inference->steps, step, next_step) {
		HASH_DEL(inference->steps, step);
		free(step);
	}
	HASH_ITER (hh, inference->keys, key, next_key) {
		HASH_DEL(inference->keys, key);
		free(key->tasks);
		free(key);
	}
	free(inference->sorted);
	free(inference->step_of);
	free(inference->next_of_step);
}

static void keys_free(struct samples *samples)
{
	for (size_t i = 0; i < samples->key_count; i++)
		free(samples->keys[i]);
	free(samples->keys);
	samples->keys = NULL;
	samples->key_count = 0;
}

/* Infers the samples. `covered` has room for each task. */
static int infer(struct inference *inference, bool *covered, struct samples *samples)
{
	int error;

	keys_choose(inference, covered);
	aliases_merge(inference->sorted, inference->key_count);
	error = samples_set(inference, samples);
	if (error < 0)
		return error;
	names_join_aliases(inference->sorted, inference->key_count, samples);
	while (names_drop_extension(samples))
		;
	return fit_check(inference, samples);
}

/* Takes the names that were found for the samples. */
static int take_names(struct inference *inference, struct samples *samples)
{
	if (inference->names && inference->key_count == 0)
		snprintf(samples->misfit, SAMPLES_MISFIT_SIZE, "%s", sample_names_misfit(inference->names));
	return samples_set(inference, samples);
}

int samples_find(const struct samples_task *tasks, size_t count, const struct sample_names *names,
		 struct samples *ret_samples)
{
	struct inference inference = {
		.names = names,
		.tasks = tasks,
		.count = count,
		.step_of = calloc(count + 1, sizeof(*inference.step_of)),
		.next_of_step = calloc(count + 1, sizeof(*inference.next_of_step)),
	};
	bool *covered = calloc(count + 1, sizeof(*covered));
	int error = -ENOMEM;

	for (size_t i = 0; i < count; i++)
		inference.is_by_rules = inference.is_by_rules || tasks[i].sample_count > 0;
	*ret_samples = (struct samples){.of_task = calloc(count + 1, sizeof(*ret_samples->of_task))};
	for (size_t i = 0; ret_samples->of_task && i < count; i++)
		ret_samples->of_task[i] = SAMPLES_NONE;
	if (covered && inference.step_of && inference.next_of_step && ret_samples->of_task)
		error = steps_find(&inference);
	if (error == 0)
		error = keys_find(&inference);
	if (error == 0)
		error = is_given(&inference) ? take_names(&inference, ret_samples)
					     : infer(&inference, covered, ret_samples);
	if (error < 0 || *ret_samples->misfit) {
		keys_free(ret_samples);
		for (size_t i = 0; ret_samples->of_task && i < count; i++)
			ret_samples->of_task[i] = SAMPLES_NONE;
	}
	inference_free(&inference);
	free(covered);
	return error;
}

void samples_deinit(struct samples *samples)
{
	keys_free(samples);
	free(samples->of_task);
	*samples = (struct samples){0};
}
