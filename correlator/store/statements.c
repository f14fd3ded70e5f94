/* Lookup by name of statements/, which is embedded at build time. */
#include "correlator/store/internal.h"
#include "store-statements.h"

#define X(name, file) {file, name},
static const struct store_sql statements[] = {STORE_SQL_STATEMENTS(X)};
#undef X

#define COUNT (sizeof(statements) / sizeof(statements[0]))
_Static_assert(COUNT <= STORE_STATEMENTS_MAX, "raise STORE_STATEMENTS_MAX");

const char *store_statement_text(const char *name, size_t *ret_index)
{
	const struct store_sql *found = store_sql_find(statements, COUNT, name);

	if (!found)
		return NULL;
	*ret_index = (size_t)(found - statements);
	return found->sql;
}
