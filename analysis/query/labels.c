/* What distinguishes tasks of the same name. See labels.h. */
#include "analysis/query/labels.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "analysis/query/ask.h"
#include "common/redact/redact.h"

#define WORDS_MAX 64      /* of a command line; the rest is ignored */
#define LABEL_WORDS_MAX 3 /* words in a label */

/* An argument, without the option before a `=`. */
struct word {
	const char *path; /* the whole */
	const char *text; /* the part of it that is shown: the last that differs */
	size_t size;
	const char *first; /* the first that differs */
	/* How much it says. Settings are numbers and logs that are values of options, as VALUE is of other words; OUTPUT
	 * is the value of -o or the like; a path is `dir/x` or `x.fq`. */
	enum rank { TEMPORARY, SETTING, NUMBER, VALUE, OPERAND, OUTPUT, PATH, OUTPUT_PATH } rank;
};

/* ---- words of a command line ----------------------------------------------------------- */

static bool is_inner(char c)
{
	return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

/* Whether the text is among the words of a list. */
static bool is_among(const char *text, size_t size, const char *list)
{
	for (size_t length; *list; list += length + strspn(list + length, " ")) {
		length = strcspn(list, " ");
		if (length == size && memcmp(list, text, size) == 0)
			return true;
	}
	return false;
}

/* What follows the option of `bash -c`, or -c, -lc, -e, --eval in the arguments of another program, unless it is one
 * word there (`gcc -c a.c`). */
static bool is_code(const char *before, const char *text, const char *tool)
{
	size_t size = strlen(before);

	if (before[0] != '-' || size < 2)
		return false;
	return is_among(before, size, tool) ||
	       (strpbrk(text, " \t\n;|&<>(") &&
		(strcmp(before, "--eval") == 0 || (size < 6 && strchr("ce", before[size - 1]))));
}

/* tmpXXXXXXXX, tmp.XXXXXXXXXX: returns the size of such a generated name, else 0. */
static size_t temporary_size(const char *text, size_t size)
{
	size_t start = size > 4 && text[3] == '.' ? 4 : 3, end = start;

	while (end < size && (isalnum((unsigned char)text[end]) || text[end] == '_'))
		end++;
	return size >= 9 && memcmp(text, "tmp", 3) == 0 && end - start >= 6 ? end : 0;
}

/* Shows the part of the path that ends at `end`. */
static void word_show(struct word *word, size_t end)
{
	const char *slash = memrchr(word->path, '/', end);
	size_t temporary;

	word->text = slash ? slash + 1 : word->path;
	word->size = (size_t)(word->path + end - word->text);
	temporary = temporary_size(word->text, word->size);
	if (temporary) {
		word->size = temporary;
		word->rank = TEMPORARY;
	}
}

/* Shows the folder above. Returns false if there is none. */
static bool word_ascend(struct word *word)
{
	if (word->text == word->path)
		return false;
	word_show(word, (size_t)(word->text - word->path) - 1);
	return true;
}

static enum rank rank_of(const char *text, const char *option, size_t option_size)
{
	bool is_output = is_among(option, option_size, "-o -out --out --output --outfile --output-file");
	bool is_value = option[0] == '-' && option_size > 1;
	size_t size = strlen(text);

	if (!text[strspn(text, "0123456789.,:+-eE")] || (size > 4 && strcmp(text + size - 4, ".log") == 0))
		return is_value ? SETTING : NUMBER;
	if (text[0] && (strchr(text, '/') || strchr(text + 1, '.')))
		return is_output ? OUTPUT_PATH : PATH;
	return is_output ? OUTPUT : is_value ? VALUE : OPERAND;
}

/* Whether the argument can label a task; `before` is the one before it. */
static bool word_read(const struct row_task_line *line, const char *before, const char *text, struct word *ret)
{
	const char *equals = strchr(text, '='), *option = equals ? text : before;
	size_t end;

	if (is_code(before, text, line->tool) || strstr(text, REDACT_MARK) || (text[0] == '-' && !equals))
		return false;
	text = equals ? equals + 1 : text;
	*ret = (struct word){.path = text,
			     .rank = rank_of(text, option, equals ? (size_t)(equals - option) : strlen(option))};
	for (end = strlen(text); end > 1 && text[end - 1] == '/';)
		end--;
	word_show(ret, end);
	return ret->size > 0 && (is_inner(ret->text[0]) || strchr("_.", ret->text[0])) &&
	       !is_among(ret->text, ret->size, line->tool) && !is_among(ret->text, ret->size, line->name);
}

/* Returns the number of words. */
static size_t words_read(const struct row_task_line *line, struct word words[WORDS_MAX])
{
	const char *const data = line->arguments.data, *const end = data + line->arguments.size, *before = "";
	size_t count = 0;

	for (const char *text = data; count < WORDS_MAX && text < end; text += strlen(text) + 1) {
		if (!memchr(text, '\0', (size_t)(end - text)))
			break; /* damaged */
		if (text > data && word_read(line, before, text, &words[count]))
			count++;
		before = text;
	}
	return count;
}

/* ---- what tasks have in common --------------------------------------------------------- */

/* A part of a path that the first task of a name has. */
struct common {
	UT_hash_handle hh;
	size_t task_count; /* tasks from the first on that have it */
};

static struct common *common_find(struct common *common, const struct word *word)
{
	struct common *found;

	HASH_FIND(hh, common, word->text, word->size, found);
	return found;
}

/* Notes the parts of words that the task of this index among those of its name has. */
static int common_note(struct common **common, const struct row_task_line *line, size_t index)
{
	struct word words[WORDS_MAX];
	size_t count = words_read(line, words);

	for (struct word *word = words; word < words + count;) {
		struct common *found = common_find(*common, word);

		if (!found && index == 0) {
			found = calloc(1, sizeof(*found));
			if (!found)
				return -ENOMEM;
			HASH_ADD_KEYPTR(hh, *common, word->text, word->size, found);
		}
		if (found && found->task_count == index)
			found->task_count++;
		word += !word_ascend(word);
	}
	return 0;
}

static void common_free(struct common *common)
{
	struct common *item, *next;

	HASH_ITER (hh, common, item, next) {
		HASH_DEL(common, item);
		free(item);
	}
}

/* Leaves the words that not all `count` tasks have. Returns their number. */
static size_t common_remove(struct common *common, size_t count, struct word *words, size_t word_count)
{
	size_t kept = 0;

	for (size_t i = 0; i < word_count; i++) {
		struct word word = words[i], shown = {0};

		do {
			const struct common *found = common_find(common, &word);

			if (word.size == 0 || (found && found->task_count == count))
				continue;
			if (!shown.path)
				shown = word;
			shown.first = word.text;
		} while (word_ascend(&word));
		if (shown.path)
			words[kept++] = shown;
	}
	return kept;
}

/* ---- labels ---------------------------------------------------------------------------- */

static void label_add(char label[LABEL_MAX], const char *text, size_t size)
{
	size_t length = strlen(label), room = LABEL_MAX - 1 - length;

	if (length > 0 && room > 1) {
		label[length++] = ' ';
		room--;
	}
	if (size > room)
		for (size = room; size > 0 && ((unsigned char)text[size] & 0xc0) == 0x80;)
			size--;
	memcpy(label + length, text, size);
	label[length + size] = '\0';
}

/* Returns the size of what all begin with, up to a separator in each, or 0. */
static size_t stem_size(const struct word *words, size_t count)
{
	const char *text = words[0].text;
	size_t size = words[0].size < LABEL_MAX ? words[0].size : LABEL_MAX, fitting = 0;

	for (; size > 0 && fitting < count; size -= fitting < count)
		for (fitting = 0; fitting < count && is_inner(text[size - 1]); fitting++)
			if (words[fitting].size < size || memcmp(words[fitting].text, text, size) != 0 ||
			    (words[fitting].size > size && is_inner(words[fitting].text[size])))
				break;
	return size;
}

/* Adds the word that says most, of several the last; the value of an option is none. */
static void label_add_best(char label[LABEL_MAX], const struct word *words, size_t count, enum rank least)
{
	const struct word *best = NULL;

	for (size_t i = 0; i < count; i++)
		if (words[i].rank != VALUE && words[i].rank >= (best ? best->rank : least))
			best = &words[i];
	if (best)
		label_add(label, best->text, best->size);
}

/* What a label is made of: each distinguishes more tasks than the one before it. */
enum level { STEM, WORDS, FULL };

/* Adds the words that differ, of which none says more than `best`: those that say little only if there is nothing else.
 */
static void label_add_differing(char label[LABEL_MAX], struct word *words, size_t count, enum rank best,
				enum level level)
{
	enum rank least = best >= VALUE && level < FULL ? VALUE : best >= SETTING ? SETTING : TEMPORARY;
	size_t kept = 0, size;

	for (size_t i = 0; i < count; i++) {
		if (level == STEM && (words[i].rank == OUTPUT || words[i].rank == OUTPUT_PATH)) {
			label_add(label, words[i].text, words[i].size);
			return;
		}
		if (words[i].rank >= least)
			words[kept++] = words[i];
	}
	size = level == STEM && kept > 1 ? stem_size(words, kept) : 0;
	if (size > 0)
		label_add(label, words[0].text, size);
	for (size_t i = 0; size == 0 && i < kept && i < LABEL_WORDS_MAX; i++) {
		const char *begin = level == FULL ? words[i].first : words[i].text;

		label_add(label, begin, (size_t)(words[i].text - begin) + words[i].size);
	}
}

/* Makes the label of one of `count` tasks of a name. */
static void label_make(const struct row_task_line *line, struct common *common, size_t count, enum level level,
		       char label[LABEL_MAX])
{
	struct word words[WORDS_MAX], differing[WORDS_MAX];
	size_t word_count = words_read(line, words), differing_count;
	enum rank best = TEMPORARY;

	label[0] = '\0';
	memcpy(differing, words, word_count * sizeof(*words));
	differing_count = common_remove(common, count, differing, word_count);
	for (size_t i = 0; i < differing_count; i++)
		best = differing[i].rank > best ? differing[i].rank : best;
	if (best < VALUE) /* numbers alone say little, temporary names nothing */
		label_add_best(label, words, word_count, differing_count > 0 ? VALUE : NUMBER);
	if (best > TEMPORARY || label[0] == '\0')
		label_add_differing(label, differing, differing_count, best, level);
}

static int compare_texts(const void *left, const void *right)
{
	return strcmp(((const struct label *)left)->text, ((const struct label *)right)->text);
}

/* Makes labels that several tasks share again, at this level, if that tells these tasks apart. */
static void labels_raise(struct label *labels, size_t count, struct common *common, enum level level)
{
	qsort(labels, count, sizeof(*labels), compare_texts);
	for (size_t i = 0, end; i < count; i = end) {
		char first[LABEL_MAX], other[LABEL_MAX];
		bool differ = false;

		label_make(labels[i].line, common, count, level, first);
		for (end = i + 1; end < count && strcmp(labels[end].text, labels[i].text) == 0; end++) {
			label_make(labels[end].line, common, count, level, other);
			differ = differ || strcmp(first, other) != 0;
		}
		for (size_t k = i; differ && k < end; k++)
			label_make(labels[k].line, common, count, level, labels[k].text);
	}
}

/* Makes the labels of all tasks of a name. */
static int siblings_label(struct label *labels, size_t count)
{
	struct common *common = NULL;
	int error = 0;

	for (size_t i = 0; i < count && error == 0; i++)
		error = common_note(&common, labels[i].line, i);
	for (size_t i = 0; i < count && error == 0; i++)
		label_make(labels[i].line, common, count, STEM, labels[i].text);
	for (enum level level = WORDS; level <= FULL && error == 0; level++)
		labels_raise(labels, count, common, level);
	common_free(common);
	return error;
}

/* ---- all tasks of a run ---------------------------------------------------------------- */

static int compare_lines(const void *left, const void *right)
{
	const struct row_task_line *a = left, *b = right;
	int order = strcmp(a->name, b->name);

	return order ? order : (a->task_id > b->task_id) - (a->task_id < b->task_id);
}

static int compare_tasks(const void *left, const void *right)
{
	const struct label *a = left, *b = right;

	return (a->task_id > b->task_id) - (a->task_id < b->task_id);
}

int labels_add_line(struct rows *lines, const struct row_task_line *line)
{
	struct row_task_line *last = lines->count > 0 ? ROWS_ITEM(lines, task_line, lines->count - 1) : NULL;
	struct word words[WORDS_MAX];

	if (last && last->task_id == line->task_id) {
		if (words_read(last, words) > 0)
			return 0;
		lines->count--;
	}
	return rows_add(lines, &row_type_task_line, line);
}

int labels_make(struct rows *lines, struct labels *ret_labels)
{
	struct label *items = calloc(lines->count + 1, sizeof(*items));
	size_t count = lines->count;
	int error = 0;

	*ret_labels = (struct labels){items, items ? count : 0};
	if (!items)
		return -ENOMEM;
	if (count > 0)
		qsort(lines->items, count, sizeof(struct row_task_line), compare_lines);
	for (size_t i = 0; i < count; i++) {
		items[i].line = ROWS_ITEM(lines, task_line, i);
		items[i].task_id = items[i].line->task_id;
	}
	for (size_t i = 0, end; i < count && error == 0; i = end) {
		for (end = i + 1; end < count && strcmp(items[end].line->name, items[i].line->name) == 0;)
			end++;
		error = siblings_label(items + i, end - i);
	}
	if (count > 0)
		qsort(items, count, sizeof(*items), compare_tasks);
	return error;
}

struct input {
	struct rows lines;
	int64_t bytes;
};

static int line_take(void *context, const void *row)
{
	const struct row_task_line *line = row;
	struct input *input = context;

	input->bytes += (int64_t)line->arguments.size;
	return input->bytes > LABELS_LINE_BYTES_MAX ? 1 : labels_add_line(&input->lines, line);
}

int labels_load(struct store *store, const struct rows *parts, struct labels *ret_labels)
{
	struct input input = {0};
	int error = 0;

	for (size_t i = 0; i < parts->count && error == 0; i++) {
		const struct row_run *run = &ROWS_ITEM(parts, part, i)->run;
		const struct store_parameter parameters[] = QUERY_PARAMETERS_OF("run_id", run->id, run->host_id);

		error = rows_each(&row_type_task_line, store, "task_lines", parameters, line_take, &input);
	}
	if (error >= 0)
		error = labels_make(&input.lines, ret_labels);
	rows_free(&input.lines);
	return error;
}

void labels_free(struct labels *labels)
{
	free(labels->items);
	*labels = (struct labels){0};
}

const char *labels_find(const struct labels *labels, int64_t task_id)
{
	const struct label wanted = {.task_id = task_id}, *found = NULL;

	if (labels->count > 0)
		found = bsearch(&wanted, labels->items, labels->count, sizeof(wanted), compare_tasks);
	return found && *found->text ? found->text : NULL;
}
