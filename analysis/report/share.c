/* See share.h. */
#include "analysis/report/share.h"

#include <openssl/hmac.h>
#include <string.h>

#include "analysis/query/run_samples.h"
#include "common/identity.h"

#define PSEUDONYM_BYTES 5
#define OUTCOME "outcome" /* a column of findings whose texts are ours (analysis/tune/failed_attempts.sql) */

static unsigned char key[SHARE_KEY_BYTES];

void share_set_key(const unsigned char new_key[SHARE_KEY_BYTES])
{
	memcpy(key, new_key, sizeof(key));
}

/* ---- pseudonyms ---------------------------------------------------------------- */

const char *share_pseudonym(const char *name)
{
	static char text[1 + 2 * PSEUDONYM_BYTES + 1];
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned size = 0;

	if (strcmp(name, RUN_SAMPLES_NONE) == 0 || strcmp(name, RUN_SAMPLES_SHARED) == 0)
		return name;
	HMAC(EVP_sha256(), key, sizeof(key), (const unsigned char *)name, strlen(name), digest, &size);
	text[0] = '~';
	for (size_t i = 0; i < PSEUDONYM_BYTES; i++)
		snprintf(text + 1 + 2 * i, 3, "%02x", size > i ? digest[i] : 0);
	return text;
}

char *share_format(const struct store_value *value, const struct question_field *column)
{
	bool is_name =
		value->type == STORE_VALUE_TEXT || value->type == STORE_VALUE_BLOB || column->type == QUESTION_USER;
	char *text = finding_value(value, column), *pseudonym;

	if (!is_name || strcmp(column->name, OUTCOME) == 0)
		return text;
	pseudonym = text ? strdup(share_pseudonym(text)) : NULL;
	free(text);
	return pseudonym;
}

/* ---- answers ------------------------------------------------------------------- */

/* Members whose texts are ours, the kernel's or the machine's. */
static const char words[] =
	" status kind engine effect owner bound_by currency finding by basis runtime machine kernel os cpu_model ";
/* Members that name something of the workload. */
static const char names[] = " name label task tool sample subject hostname host image user engine_name engine_label "
			    "sender_program cluster program ";

static bool is_among(const char *list, const char *member)
{
	char word[80];

	snprintf(word, sizeof(word), " %s ", member);
	return strstr(list, word);
}

static bool ends_with(const char *text, const char *end)
{
	size_t size = strlen(text), end_size = strlen(end);

	return size >= end_size && strcmp(text + size - end_size, end) == 0;
}

/* An id of ours is a hash of 16 digits; others identify hosts and containers. */
static bool is_id(const char *text)
{
	int64_t first, last;

	return strlen(text) == IDENTITY_TEXT_SIZE - 1 && identity_parse_prefix(text, &first, &last) == 0;
}

static bool is_kept(const char *member, const char *text, const char *made_by_us)
{
	return is_among(words, member) || is_among(made_by_us, member) || (identity_is_column(member) && is_id(text));
}

void share_scrub(json_t *value, const char *made_by_us)
{
	const char *member;
	json_t *item;
	size_t index;
	void *next;

	if (json_is_string(json_array_get(value, 0))) /* arguments */
		json_array_clear(value);
	json_array_foreach (value, index, item)
		share_scrub(item, made_by_us);
	json_object_foreach_safe(value, next, member, item)
	{
		if (ends_with(member, "user_id"))
			json_object_set_new(value, member, json_null());
		else if (!json_is_string(item))
			share_scrub(item, made_by_us);
		else if (is_among(names, member) && !is_among(made_by_us, member))
			json_object_set_new(value, member, json_string(share_pseudonym(json_string_value(item))));
		else if (!is_kept(member, json_string_value(item), made_by_us))
			json_object_set_new(value, member, json_null());
	}
}
