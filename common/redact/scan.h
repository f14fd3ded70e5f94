/* Finds secrets: within a text, whatever program it belongs to (names with values, URLs, known forms of tokens), and
 * among the words of commands. */
#pragma once

#include "common/redact/patterns.h"
#include "common/redact/redact.h"

/* The arguments, and which of their bytes are secret. */
struct redaction {
	const struct secrets *secrets;
	const char *data;
	size_t size;
	unsigned char *mask;
	bool cut; /* the last argument is incomplete */
};

void redaction_mark(struct redaction *redaction, struct span secret);

/* Marks the secrets in one argument, or in a part of one. `in_code`: it is shell code, so $X is a variable. */
void redaction_scan(struct redaction *redaction, struct span text, bool in_code);

/* Whether the text ends where the arguments were cut: then it may lack the end of a secret, or what tells that it is one. */
static inline bool redaction_is_cut(const struct redaction *redaction, struct span text)
{
	/* with or without NUL */
	return redaction->cut && text.data + text.size + 1 >= redaction->data + redaction->size;
}

/* Marks the value of a name of this strength if it is a secret; the beginning of a value is one. */
bool redaction_mark_value(struct redaction *redaction, enum secret_strength strength, struct span value, bool literal);

/* Scans all arguments, and marks the words of commands that are secrets (walk.c). */
void redaction_walk(struct redaction *redaction);

static inline struct span span_from(struct span span, size_t offset)
{
	return (struct span){span.data + offset, span.size - offset};
}
