/* The command line of a process as a shell would read it back. See command_text.h. */
#include "cli/command_text.h"

#include <stdbool.h>
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
	return size > 0 && strspn(argument, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "0123456789_-./=:,+@%[]") >= size;
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

const char *command_text(const struct row_blob *arguments, const char *program, char *text,
			 size_t capacity)
{
	struct buffer buffer = {.text = text, .capacity = capacity};
	const char *data = arguments->data;

	if (!data || arguments->size == 0) {
		snprintf(text, capacity, "(%s)", program);
		return text;
	}
	for (size_t i = 0; i < arguments->size;) {
		size_t size = strnlen(data + i, arguments->size - i);

		if (i > 0)
			append(&buffer, " ", 1);
		append_quoted(&buffer, data + i, size);
		i += size + 1;
	}
	text[buffer.used] = '\0';
	return text;
}
