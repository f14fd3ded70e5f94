/* The queries that Tracer runs on a store or a lake. See ask.h. */
#include "analysis/query/ask.h"

#include <string.h>

#include "query-texts.h"

#define X(id, file) {#id, id},
static const struct {
	const char *id; /* FOLDER_NAME */
	const char *sql;
} texts[] = {QUERY_TEXTS(X)};
#undef X

#define FOLDER_BYTES(id) (strcspn(id, "_") + 1)

const char *query_name(size_t index)
{
	return index < sizeof(texts) / sizeof(texts[0]) ? texts[index].id + FOLDER_BYTES(texts[index].id) : NULL;
}

bool query_is_question(size_t index)
{
	return query_name(index) && strncmp(texts[index].id, "questions_", FOLDER_BYTES(texts[index].id)) == 0;
}

const char *query_text(const char *name)
{
	for (size_t i = 0; query_name(i); i++)
		if (strcmp(query_name(i), name) == 0)
			return texts[i].sql;
	return NULL;
}

int query_ask(struct store *store, const char *name, const struct store_parameter *parameters,
	      struct store_result **ret_result)
{
	const struct store_text text = {.name = name, .sql = query_text(name)};

	/* store_query() reports an unknown name as it does for the store's own queries. */
	return text.sql ? store_query_text(store, &text, parameters, ret_result)
			: store_query(store, name, parameters, ret_result);
}

void query_ask_ahead(struct store *store, const char *name, const struct store_parameter *parameters)
{
	const struct store_text text = {.name = name, .sql = query_text(name)};

	if (text.sql)
		store_ask_ahead(store, &text, parameters);
}
