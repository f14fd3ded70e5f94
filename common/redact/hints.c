/* The fast test whether a command line can hold a secret. See patterns.h.
 *
 * Every name, literal and program has a hint of three bytes, in five bits each. One bit for each possible hint says
 * whether it is among them, so most bytes of a command line cost one lookup.
 */
#include "common/redact/patterns.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/grow.h"

#define HINT_BITS 15

struct hint {
	const char *text;
	uint16_t key;
	uint8_t size;
	enum hint_kind {
		HINT_ANYWHERE,
		HINT_WORD, /* a program: must be a word of its own */
		HINT_END,  /* the last word of a name: neither a small letter nor a digit follows */
	} kind;
};

struct secret_hints {
	uint32_t bits[(1 << HINT_BITS) / 32];
	struct hint *items;
	size_t count, capacity;
};

static unsigned hint_next(unsigned key, char c)
{
	return (key << 5 | ((unsigned char)c & 31)) & ((1 << HINT_BITS) - 1);
}

static int hint_put(struct secret_hints *hints, struct hint hint)
{
	struct hint *grown = grow(hints->items, &hints->capacity, hints->count + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	hints->items = grown;
	hints->items[hints->count++] = hint;
	hints->bits[hint.key / 32] |= UINT32_C(1) << hint.key % 32;
	return 0;
}

static int hint_add(struct secret_hints *hints, const char *text, size_t size, enum hint_kind kind)
{
	struct hint hint = {.text = text, .size = (uint8_t)(size < 32 ? size : 32), .kind = kind};
	unsigned key = 0;
	int r = 0;

	for (size_t i = 0; i < size && i < 3; i++)
		key = hint_next(key, text[i]);
	if (size >= 3) {
		hint.key = (uint16_t)key;
		return hint_put(hints, hint);
	}
	if (size < 2)
		return 0;
	for (int third = 0; third < 32 && r == 0; third++) {
		hint.key = (uint16_t)hint_next(key, (char)third);
		r = hint_put(hints, hint);
	}
	return r;
}

static int hint_compare(const void *a, const void *b)
{
	const struct hint *one = a, *other = b;

	return (int)one->key - (int)other->key;
}

static bool is_word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

/* Whether the hint is at `at`. */
static bool hint_holds(const struct hint *hint, const char *data, size_t size, size_t at)
{
	size_t end = at + hint->size;

	/* Most others that share the hint differ in the next byte. */
	if (end > size || (hint->size > 3 && (data[at + 3] ^ hint->text[3]) & 31) ||
	    strncasecmp(data + at, hint->text, hint->size) != 0)
		return false;
	switch (hint->kind) {
	case HINT_ANYWHERE: return true;
	case HINT_WORD: return (at == 0 || !is_word_char(data[at - 1])) && (end == size || !is_word_char(data[end]));
	case HINT_END: return end == size || !(islower((unsigned char)data[end]) || isdigit((unsigned char)data[end]));
	}
	return true;
}

static bool hints_hold(const struct secret_hints *hints, unsigned key, const char *data, size_t size, size_t at)
{
	size_t low = 0, high = hints->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (hints->items[middle].key < key)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < hints->count && hints->items[low].key == key; low++)
		if (hint_holds(&hints->items[low], data, size, at))
			return true;
	return false;
}

bool secrets_suspected(const struct secrets *secrets, const char *data, size_t size)
{
	const struct secret_hints *hints = secrets->hints;

	/* Each key is made of its own three bytes, so that a processor computes several at once. */
	for (size_t i = 2; i <= size; i++) {
		char c = i < size ? data[i] : '\0';
		unsigned key = hint_next(hint_next(data[i - 2] & 31, data[i - 1]), c);

		if (hints->bits[key / 32] >> key % 32 & 1 && hints_hold(hints, key, data, size, i - 2))
			return true;
		if (c == '@' && memmem(data, i, "://", 3))
			return true;
	}
	return false;
}

/* Of a URL, the @ that would end a password; of a pipe, the program that would read one. */
bool secrets_suspected_cut(const char *data, size_t size)
{
	static const char *const texts[] = {"://", SECRET_ECHOES};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (memmem(data, size, texts[i], strlen(texts[i])))
			return true;
	return false;
}

/* Of "secret id": secret. */
static struct span longest_word(const char *text)
{
	struct span longest = {text, 0};

	for (; *text; text += *text == ' ') {
		size_t size = strcspn(text, " ");

		if (size > longest.size)
			longest = (struct span){text, size};
		text += size;
	}
	return longest;
}

static int hints_add_names(struct secrets *secrets)
{
	static const struct {
		enum secret_name_list list;
		enum hint_kind kind;
	} lists[] = {{SECRET_NAMES_parts, HINT_ANYWHERE}, {SECRET_NAMES_words, HINT_END},
		     {SECRET_NAMES_last, HINT_END},       {SECRET_NAMES_endings, HINT_END},
		     {SECRET_NAMES_random, HINT_END},     {SECRET_NAMES_query, HINT_END}};
	int r = 0;

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		const struct secret_texts *texts = &secrets->names[lists[i].list];

		for (size_t k = 0; k < texts->count && r == 0; k++) {
			struct span word = longest_word(texts->items[k]);
			bool is_last = word.data[word.size] == '\0';

			r = hint_add(secrets->hints, word.data, word.size, is_last ? lists[i].kind : HINT_ANYWHERE);
		}
	}
	return r;
}

int secrets_hints_build(struct secrets *secrets)
{
	int r;

	secrets->hints = calloc(1, sizeof(*secrets->hints));
	if (!secrets->hints)
		return -ENOMEM;
	r = hints_add_names(secrets);
	for (size_t i = 0; i < secrets->program_count && r == 0; i++)
		r = hint_add(secrets->hints, secrets->programs[i].name, strlen(secrets->programs[i].name), HINT_WORD);
	for (size_t c = 0; c < 256; c++)
		for (size_t i = 0; i < secrets->starts[c].count && r == 0; i++)
			r = hint_add(secrets->hints, secrets->starts[c].items[i]->literal,
				     secrets->starts[c].items[i]->literal_size, HINT_ANYWHERE);
	if (secrets->hints->count)
		qsort(secrets->hints->items, secrets->hints->count, sizeof(*secrets->hints->items), hint_compare);
	return r;
}

void secrets_hints_free(struct secret_hints *hints)
{
	if (hints)
		free(hints->items);
	free(hints);
}
