/* The words of a command line, and the few of them that say what it works on.
 *
 * Tasks of one kind differ in a few words: the sample, the input, the target. A task's label is
 * made of those. Which words differ is known once there is a second task of the kind; until then
 * the label is the most telling word of the command line alone.
 */
#pragma once

#include "common/rules/rules.h"

#define WORDS_MAX 64 /* of one command line; what follows is ignored */
#define WORDS_BYTES_MAX 2048
#define LABEL_MAX 96 /* bytes of a label with its NUL, cut at a character */

/* Each word is a byte of enum word_kind (words.c) and its text, ended by NUL. */
struct words {
	char *data; /* NULL: none */
	size_t size;
};

/* Hashes of words that several command lines have in common. */
struct common_words {
	uint32_t hashes[WORDS_MAX];
	uint32_t count;
};

/* Splits the arguments; one that holds shell code is split into its words. `name` is what the
 * program is called, as its verdict has it. 0, or -ENOMEM. */
int words_read(const struct rules_subject *subject, const char *name, struct words *ret_words);
void words_deinit(struct words *words);

/* Hash of `name` and the commands of shell code: the same for all command lines of a kind. */
uint64_t words_kind(const struct words *words, const char *name);
uint32_t words_hash(const struct words *words);

void common_words_init(struct common_words *common, const struct words *words);
/* Keeps only what `words` has, too. True: something was left out. */
bool common_words_keep(struct common_words *common, const struct words *words);

/* The label of a task called `task_name`, "" where there is nothing to say: of the words that
 * are not in `common`; of all words, where that is NULL or leaves nothing. Where several words
 * differ and begin alike ("s3" of s3_1.fq, s3_2.fq), it is that stem, unless `whole_words`.
 * True: it is a stem. */
bool words_label(const struct words *words, const struct common_words *common, const char *task_name, bool whole_words,
		 char ret_label[LABEL_MAX]);
