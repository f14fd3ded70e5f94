/* Command lines in shell syntax. See command.h. */
#include "analysis/query/command.h"

#include <stdio.h>
#include <string.h>

static bool is_plain(const char *argument, size_t size)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%[]";

	for (size_t i = 0; i < size; i++)
		if (!memchr(plain, argument[i], sizeof(plain) - 1))
			return false;
	return size > 0;
}

struct line {
	char *text;
	size_t used, capacity;
};

/* Leaves out what does not fit. */
static void put(struct line *line, const char *text, size_t size)
{
	size_t room = line->capacity - 1 - line->used;

	size = size < room ? size : room;
	memcpy(line->text + line->used, text, size);
	line->used += size;
}

static void put_quoted(struct line *line, const char *argument, size_t size)
{
	const char *quote = memchr(argument, '\'', size);

	if (is_plain(argument, size)) {
		put(line, argument, size);
		return;
	}
	put(line, "'", 1);
	while (quote) {
		size_t before = (size_t)(quote - argument);

		put(line, argument, before);
		put(line, "'\\''", 4);
		argument += before + 1;
		size -= before + 1;
		quote = memchr(argument, '\'', size);
	}
	put(line, argument, size);
	put(line, "'", 1);
}

/* The offset of a program's name, after its directory. */
static size_t name_begin(const char *path, size_t size)
{
	const char *slash = memrchr(path, '/', size);

	return slash && slash + 1 < path + size ? (size_t)(slash + 1 - path) : 0;
}

const char *command_text(const struct row_blob *arguments, const char *program, bool whole, char *text, size_t capacity)
{
	const char *data = arguments->data;
	struct line line = {.text = text, .capacity = capacity};

	if (!data || arguments->size == 0) {
		snprintf(text, capacity, "(%s)", program);
		return text;
	}
	for (size_t i = 0, size; i < arguments->size; i += size + 1) {
		size_t skipped;

		size = strnlen(data + i, arguments->size - i);
		skipped = i == 0 && !whole ? name_begin(data, size) : 0;
		put(&line, i > 0 ? " " : "", i > 0);
		put_quoted(&line, data + i + skipped, size - skipped);
	}
	text[line.used] = '\0';
	return text;
}
