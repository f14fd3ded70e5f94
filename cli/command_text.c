/* The command line of a process as a shell would read it back. See command_text.h. */
#include "cli/command_text.h"

#include <stdio.h>
#include <string.h>

struct buffer {
	char *text;
	size_t used, capacity;
};

static void append(struct buffer *buffer, const char *data, size_t size)
{
	size_t room = buffer->capacity - 1 - buffer->used;

	if (size > room)
		size = room;
	memcpy(buffer->text + buffer->used, data, size);
	buffer->used += size;
}

static bool is_plain(const char *argument, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		char c = argument[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) &&
		    !strchr("_-./=:,+@%[]", c))
			return false;
	}
	return size > 0;
}

static void append_quoted(struct buffer *buffer, const char *argument, size_t size)
{
	if (is_plain(argument, size)) {
		append(buffer, argument, size);
		return;
	}
	append(buffer, "'", 1);
	for (size_t i = 0; i < size; i++) {
		if (argument[i] == '\'')
			append(buffer, "'\\''", 4);
		else
			append(buffer, argument + i, 1);
	}
	append(buffer, "'", 1);
}

/* Where the name of a program begins, its folder left out. */
static size_t name_begin(const char *path, size_t size)
{
	const char *slash = memrchr(path, '/', size);

	return slash && slash + 1 < path + size ? (size_t)(slash + 1 - path) : 0;
}

const char *command_text(const struct row_blob *arguments, const char *program, bool whole,
			 char *text, size_t capacity)
{
	struct buffer buffer = {.text = text, .capacity = capacity};
	const char *data = arguments->data;

	if (!data || arguments->size == 0) {
		snprintf(text, capacity, "(%s)", program);
		return text;
	}
	for (size_t i = 0; i < arguments->size;) {
		size_t size = strnlen(data + i, arguments->size - i);
		size_t skipped = i == 0 && !whole ? name_begin(data, size) : 0;

		if (i > 0)
			append(&buffer, " ", 1);
		append_quoted(&buffer, data + i + skipped, size - skipped);
		i += size + 1;
	}
	text[buffer.used] = '\0';
	return text;
}
