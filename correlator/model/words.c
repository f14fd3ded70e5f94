/* See words.h. */
#include "correlator/model/words.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/identity.h"
#include "common/redact/redact.h"

#define LABEL_WORDS_MAX 3 /* words in a label */

enum word_kind {
	WORD_PLAIN = 'w',
	WORD_COMMAND = 'c', /* a program */
	WORD_NAME = 'n',    /* part of the program's name: the script it interprets, a subcommand */
};

struct word {
	char kind;
	const char *text;
};

/* Reads the word at `position`. Returns the position of the next one, or NULL at the end. */
static const char *word_read(const struct words *words, const char *position, struct word *ret)
{
	if (!position || position >= words->data + words->size)
		return NULL;
	ret->kind = position[0];
	ret->text = position + 1;
	return ret->text + strlen(ret->text) + 1;
}

#define WORDS_FOREACH(words, word) \
	for (const char *next_ = word_read(words, (words)->data, &(word)); next_; \
	     next_ = word_read(words, next_, &(word)))

static uint32_t text_hash(const char *text)
{
	struct identity identity;

	identity_begin(&identity, "word");
	identity_add_bytes(&identity, text, strlen(text));
	return (uint32_t)identity_end(&identity);
}

/* Returns the part after the last slash and sets `*size` to its size. */
static const char *base_of(const char *text, size_t *size)
{
	const char *slash;

	while (*size > 1 && text[*size - 1] == '/')
		--*size;
	slash = memrchr(text, '/', *size);
	if (slash && *size > 1) {
		*size -= (size_t)(slash + 1 - text);
		text = slash + 1;
	}
	return text;
}

/* Whether the last path component of the text is one of the words of `name`. */
static bool is_in_name(const char *text, size_t size, const char *name)
{
	const char *base = base_of(text, &size);

	while (*name) {
		size_t length = strcspn(name, " ");

		if (length == size && memcmp(name, base, size) == 0)
			return true;
		name += length + strspn(name + length, " ");
	}
	return false;
}

/* tmpXXXXXXXX, tmp.XXXXXXXXXX: a generated name, which tells nothing. */
static bool is_temporary(const char *base, size_t size)
{
	size_t start = size > 4 && base[3] == '.' ? 4 : 3, end = start;

	if (size < 9 || strncmp(base, "tmp", 3) != 0)
		return false;
	while (end < size && (isalnum((unsigned char)base[end]) || base[end] == '_'))
		end++;
	return end - start >= 6;
}

/* ---- splitting */

/* Interpreters: the next word that is not an option is the program. */
static bool leads_to_command(const char *text)
{
	static const char *const words[] = {"Rscript", "perl", "ruby", "julia", "node", "java", "bash", "sh"};
	size_t size = strlen(text);
	const char *base = base_of(text, &size);

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(base, words[i]) == 0)
			return true;
	return strncmp(base, "python", 6) == 0;
}

static void add_word(struct words *words, enum word_kind kind, const char *text)
{
	size_t size = strlen(text);

	if (size == 0 || words->size + size + 2 > WORDS_BYTES_MAX)
		return;
	words->data[words->size] = (char)kind;
	memcpy(words->data + words->size + 1, text, size + 1);
	words->size += size + 2;
}

/* What follows -c, -lc, -e, --eval in the arguments of another program (`srun bash -c CODE`, `psql -c CODE`),
 * unless it is one word (`gcc -c a.c`). */
static bool is_code(const char *before, const char *text)
{
	size_t size = strlen(before);

	return before[0] == '-' && strpbrk(text, " \t\n;|&<>(") &&
	       (strcmp(before, "--eval") == 0 ||
		(before[1] != '-' && size < 6 && (before[size - 1] == 'c' || before[size - 1] == 'e')));
}

int words_read(const struct rules_subject *subject, const char *name, const char *code, struct words *ret_words)
{
	struct words words = {.data = malloc(WORDS_BYTES_MAX)};
	bool at_command = true;
	char *fitting;

	if (!words.data)
		return -ENOMEM;
	for (size_t i = 0; i < subject->argc && i < WORDS_MAX; i++) {
		const char *text = subject->argv[i];
		bool is_option = i > 0 && text[0] == '-';

		if (text == code || (i > 0 && is_code(subject->argv[i - 1], text))) {
			add_word(&words, WORD_NAME, "code");
			continue;
		}
		add_word(&words,
			 is_in_name(text, strlen(text), name) ? WORD_NAME
			 : at_command && !is_option           ? WORD_COMMAND
							      : WORD_PLAIN,
			 text);
		at_command = at_command && (is_option || leads_to_command(text));
	}
	fitting = realloc(words.data, words.size ? words.size : 1);
	if (fitting)
		words.data = fitting;
	*ret_words = words;
	return 0;
}

void words_deinit(struct words *words)
{
	free(words->data);
	*words = (struct words){0};
}

/* ---- comparing */

uint32_t words_hash(const struct words *words)
{
	struct identity identity;

	identity_begin(&identity, "words");
	identity_add_bytes(&identity, words->data, words->size);
	return (uint32_t)identity_end(&identity);
}

static bool common_words_have(const struct common_words *common, uint32_t hash)
{
	for (uint32_t i = 0; i < common->count; i++)
		if (common->hashes[i] == hash)
			return true;
	return false;
}

void common_words_init(struct common_words *common, const struct words *words)
{
	struct word word;

	common->count = 0;
	WORDS_FOREACH (words, word) {
		uint32_t hash = text_hash(word.text);

		if (common->count < WORDS_MAX && !common_words_have(common, hash))
			common->hashes[common->count++] = hash;
	}
}

bool common_words_keep(struct common_words *common, const struct words *words)
{
	uint32_t before = common->count, kept = 0;
	struct common_words other;

	common_words_init(&other, words);
	for (uint32_t i = 0; i < before; i++)
		if (common_words_have(&other, common->hashes[i]))
			common->hashes[kept++] = common->hashes[i];
	common->count = kept;
	return kept < before;
}

/* ---- choosing */

/* A word that may be used in a label: its last path component, without the option before a `=`. */
struct candidate {
	const char *text;
	size_t size;
	bool is_output; /* value of -o or a similar option */
	bool is_path;
	bool is_value; /* value of an option */
	bool is_weak;  /* a number, a log, a temporary name: used only if there is nothing else */
};

static bool is_output_option(const char *text, size_t size)
{
	static const char *const options[] = {"-o", "-out", "--out", "--output", "--outfile", "--output-file"};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (strlen(options[i]) == size && memcmp(options[i], text, size) == 0)
			return true;
	return false;
}

/* `dir/x`, `x.fq`, but not 0.5 or a plain word. */
static bool looks_like_path(const char *text)
{
	bool number = text[strspn(text, "0123456789.,:+-eE")] == '\0';
	const char *dot = strchr(text + (*text != '\0'), '.');

	return !number && (strchr(text, '/') || (dot && isalnum((unsigned char)dot[1])));
}

/* org.acme.tools.Main: a Java class, which tells what runs but not on what. */
static bool looks_like_class(const char *text)
{
	const char *last = strrchr(text, '.');

	return last && last != strchr(text, '.') && isupper((unsigned char)last[1]) &&
	       islower((unsigned char)last[2]) && !strchr(text, '/');
}

/* Whether the word may be used in a label; `before` is the word before it, or "". */
static bool candidate_make(const struct word *word, const char *before, struct candidate *ret)
{
	const char *text = word->text, *equals = strchr(text, '=');
	const char *option = before;
	size_t option_size = strlen(before);

	if (text[0] == '-' || (equals && equals > text && isalpha((unsigned char)text[0]))) {
		if (!equals)
			return false;
		option = text;
		option_size = (size_t)(equals - text);
		text = equals + 1;
	}
	ret->is_path = looks_like_path(text);
	ret->is_value = option[0] == '-' && option_size > 1;
	ret->is_output = is_output_option(option, option_size);
	ret->size = strlen(text);
	ret->text = base_of(text, &ret->size);
	ret->is_weak = text[strspn(text, "0123456789.,:+-")] == '\0' ||
		       (ret->size > 4 && memcmp(ret->text + ret->size - 4, ".log", 4) == 0);
	return isalnum((unsigned char)ret->text[0]) || (unsigned char)ret->text[0] >= 0x80 || ret->text[0] == '_' ||
	       ret->text[0] == '.';
}

/* Returns the size of the longest common prefix that ends at the end of a word in each, or 0. */
static size_t stem_size(const struct candidate *candidates, size_t count)
{
	size_t size = candidates[0].size;

	for (size_t i = 1; i < count; i++) {
		size_t same = 0;

		while (same < size && same < candidates[i].size && candidates[i].text[same] == candidates[0].text[same])
			same++;
		size = same;
	}
	for (; size > 0; size--) {
		bool whole = true;

		for (size_t i = 0; i < count && whole; i++)
			whole = size == candidates[i].size || !isalnum((unsigned char)candidates[i].text[size]);
		if (whole && isalnum((unsigned char)candidates[0].text[size - 1]))
			return size;
	}
	return 0;
}

static bool is_separator(char c)
{
	return !isalnum((unsigned char)c);
}

/* Whether the candidate contains the part between separators. */
static bool has_part(const struct candidate *candidate, const char *part, size_t size)
{
	for (size_t i = 0; i + size <= candidate->size; i++)
		if (memcmp(candidate->text + i, part, size) == 0 && (i == 0 || is_separator(candidate->text[i - 1])) &&
		    (i + size == candidate->size || is_separator(candidate->text[i + size])))
			return true;
	return false;
}

/* Finds the longest part between separators that all have, "heart" of heart.1.fq and map.heart.bam;
 * not the end of the first, which is its file type. */
static size_t shared_part(const struct candidate *candidates, size_t count, const char **ret_part)
{
	const char *text = candidates[0].text;
	size_t best = 0, end;

	for (size_t begin = 0; begin < candidates[0].size; begin = end + 1) {
		bool shared = true;

		for (end = begin; end < candidates[0].size && !is_separator(text[end]);)
			end++;
		for (size_t i = 1; i < count && shared; i++)
			shared = has_part(&candidates[i], text + begin, end - begin);
		if (shared && end < candidates[0].size && end - begin > best) {
			best = end - begin;
			*ret_part = text + begin;
		}
	}
	return best;
}

/* Compares up to the first dot: a.txt and a.gz are both about a. */
static bool same_object(const struct candidate *a, const struct candidate *b)
{
	const char *dot_a = memchr(a->text + 1, '.', a->size - 1);
	const char *dot_b = memchr(b->text + 1, '.', b->size - 1);
	size_t size_a = dot_a ? (size_t)(dot_a - a->text) : a->size;
	size_t size_b = dot_b ? (size_t)(dot_b - b->text) : b->size;

	return size_a == size_b && memcmp(a->text, b->text, size_a) == 0;
}

static void label_add(char label[LABEL_MAX], const char *text, size_t size)
{
	size_t length = strlen(label), room = LABEL_MAX - 1 - length;

	if (length > 0 && room > 1) {
		label[length++] = ' ';
		room--;
	}
	if (size > room) {
		size = room;
		/* Do not cut within a character. */
		while (size > 0 && ((unsigned char)text[size] & 0xc0) == 0x80)
			size--;
	}
	memcpy(label + length, text, size);
	label[length + size] = '\0';
}

/* Makes a short label from the words that siblings do not have. Returns true if it is a stem. */
static bool label_of_differing(const struct candidate *candidates, size_t count, bool whole_words,
			       char label[LABEL_MAX])
{
	const struct candidate *shown[LABEL_WORDS_MAX];
	size_t shown_count = 0, stem;

	for (size_t i = 0; i < count; i++)
		if (candidates[i].is_output) {
			label_add(label, candidates[i].text, candidates[i].size);
			return false;
		}
	for (size_t i = 0; i < count && shown_count < LABEL_WORDS_MAX; i++) {
		bool known = false;

		for (size_t j = 0; j < shown_count && !known; j++)
			known = same_object(shown[j], &candidates[i]);
		if (!known)
			shown[shown_count++] = &candidates[i];
	}
	const char *part = candidates[0].text;

	stem = shown_count > 1 && !whole_words ? stem_size(candidates, count) : 0;
	if (stem == 0 && shown_count > 1 && !whole_words)
		stem = shared_part(candidates, count, &part);
	if (stem > 0) {
		label_add(label, part, stem);
		return true;
	}
	for (size_t i = 0; i < shown_count; i++)
		label_add(label, shown[i]->text, shown[i]->size);
	return false;
}

/* Makes the label of a command line without siblings: its output file, else the last file, else the
 * last word that is not an option's value. */
static void label_single(const struct candidate *candidates, size_t count, char label[LABEL_MAX])
{
	const struct candidate *best = NULL;

	for (size_t i = 0; i < count; i++) {
		const struct candidate *candidate = &candidates[i];

		if (candidate->is_output && candidate->is_path) {
			best = candidate;
			break;
		}
		if (candidate->is_weak && best)
			continue;
		if (candidate->is_path || (best && best->is_weak) || (!candidate->is_value && !(best && best->is_path)))
			best = candidate;
	}
	if (best)
		label_add(label, best->text, best->size);
}

/* Whether the word is a candidate. Temporary names distinguish siblings if nothing else does. */
static bool candidate_is_accepted(const struct word *word, const char *before, bool has_siblings,
				  struct candidate *candidate)
{
	if (!candidate_make(word, before, candidate) || looks_like_class(word->text) || strstr(word->text, REDACT_MARK))
		return false;
	if (!is_temporary(candidate->text, candidate->size))
		return word->kind == WORD_PLAIN;
	const char *dot = memchr(candidate->text + 4, '.', candidate->size - 4);

	candidate->size = dot ? (size_t)(dot - candidate->text) : candidate->size;
	candidate->is_weak = true;
	return has_siblings;
}

/* Collects the words for the label that are not in `common`. */
static size_t candidates_collect(const struct words *words, const struct common_words *common, const char *task_name,
				 struct candidate *candidates)
{
	struct word word;
	const char *before = "";
	size_t count = 0;

	WORDS_FOREACH (words, word) {
		struct candidate candidate;
		bool wanted = !common || !common_words_have(common, text_hash(word.text));

		if (wanted && candidate_is_accepted(&word, before, common != NULL, &candidate) &&
		    !is_in_name(candidate.text, candidate.size, task_name))
			candidates[count++] = candidate;
		before = word.text;
	}
	return count;
}

static size_t drop_weak(struct candidate *candidates, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (!candidates[i].is_weak)
			candidates[kept++] = candidates[i];
	return kept > 0 ? kept : count;
}

bool words_label(const struct words *words, const struct common_words *common, const char *task_name, bool whole_words,
		 char ret_label[LABEL_MAX])
{
	struct candidate candidates[WORDS_MAX];
	size_t count = 0;

	ret_label[0] = '\0';
	if (common)
		count = candidates_collect(words, common, task_name, candidates);
	if (count > 0) {
		if (!whole_words)
			count = drop_weak(candidates, count);
		return label_of_differing(candidates, count, whole_words, ret_label);
	}
	count = candidates_collect(words, NULL, task_name, candidates);
	label_single(candidates, count, ret_label);
	return false;
}
