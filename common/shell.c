/* See shell.h. */
#include "common/shell.h"

#include <string.h>

size_t shell_word_size(const char *code, size_t size)
{
	size_t at = 0;
	char quote = '\0';

	for (; at < size && code[at]; at++) {
		char c = code[at];

		if (c == '\\' && quote != '\'')
			at += at + 1 < size && code[at + 1];
		else if (quote)
			quote = c == quote ? '\0' : quote;
		else if (c == '"' || c == '\'')
			quote = c;
		else if (strchr(" \t\n\r;|()&`<>", c))
			break;
	}
	return at;
}
