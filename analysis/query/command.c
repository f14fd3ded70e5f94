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

static void print_quoted(FILE *file, const char *argument, size_t size)
{
	bool plain = is_plain(argument, size);

	fputs(plain ? "" : "'", file);
	for (size_t i = 0; i < size; i++)
		if (!plain && argument[i] == '\'')
			fputs("'\\''", file);
		else
			fputc(argument[i], file);
	fputs(plain ? "" : "'", file);
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
	FILE *file = data && arguments->size > 0 ? fmemopen(text, capacity, "w") : NULL;

	snprintf(text, capacity, "(%s)", program);
	for (size_t i = 0, size; file && i < arguments->size; i += size + 1) {
		size_t skipped;

		size = strnlen(data + i, arguments->size - i);
		skipped = i == 0 && !whole ? name_begin(data, size) : 0;
		fputs(i > 0 ? " " : "", file);
		print_quoted(file, data + i + skipped, size - skipped);
	}
	if (file)
		fclose(file);
	text[capacity - 1] = '\0'; /* if it was truncated */
	return text;
}
