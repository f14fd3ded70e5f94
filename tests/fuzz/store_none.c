/* Stub store, for targets that never query one. */
#include <errno.h>

#include "common/store/store.h"

int store_query_text(struct store *store, const struct store_text *text, const struct store_parameter *parameters,
		     struct store_result **ret_result)
{
	return -ENOSYS;
}

struct store_value store_result_get(struct store_result *result, const char *column)
{
	return (struct store_value){.data = ""};
}
