/* The words of a command line, and the few of them that tell what it works on.
 *
 * Tasks of one kind differ in a few words: the sample, the input, the target. A task's label is
 * made from those. Which words differ is known once there is a second task of the kind; until
 * then the label is the most descriptive word of the command line alone.
 */
#pragma once

#include "common/rules/rules.h"

#define WORDS_MAX 64 /* of one command line; the rest is ignored */
#define WORDS_BYTES_MAX 2048
#define LABEL_MAX 96 /* bytes of a label with its NUL, cut at a character boundary */

/* Each word is a byte of enum word_kind (words.c) and its text, terminated by NUL. */
struct words {
	char *data; /* NULL: no words */
	size_t size;
};

/* Hashes of words that several command lines have in common. */
struct common_words {
	uint32_t hashes[WORDS_MAX];
	uint32_t count;
};

/* Takes the arguments without `code`, one of them or NULL. `name` is the name of the program, from its class, as is
 * the code. Returns 0 or -ENOMEM. */
int words_read(const struct rules_subject *subject, const char *name, const char *code, struct words *ret_words);
void words_deinit(struct words *words);

uint32_t words_hash(const struct words *words);

void common_words_init(struct common_words *common, const struct words *words);
/* Keeps only what `words` has, too. Returns true if a word was removed. */
bool common_words_keep(struct common_words *common, const struct words *words);

/* Makes the label of a task called `task_name` from the words that are not in `common`, or from
 * all words if `common` is NULL or leaves none; "" if no word is suitable. If several words differ
 * and share a stem ("s3" of s3_1.fq, s3_2.fq), the label is that stem, unless `whole_words`.
 * Returns true if it is a stem. */
bool words_label(const struct words *words, const struct common_words *common, const char *task_name, bool whole_words,
		 char ret_label[LABEL_MAX]);
