/* Parameters in the text of a query. See store.h. */
#include <ctype.h>
#include <string.h>

#include "common/store/store.h"

/* Returns the position after the first `end` in `sql`, or the end of `sql` if there is none. */
static const char *skip_to(const char *sql, const char *end)
{
	const char *found = strstr(sql, end);

	return found ? found + strlen(end) : sql + strlen(sql);
}

/* Skips a comment or quoted text that begins at `sql`; returns `sql` if there is none. */
static const char *skip_quiet(const char *sql)
{
	if (sql[0] == '-' && sql[1] == '-')
		return sql + strcspn(sql, "\n");
	if (sql[0] == '/' && sql[1] == '*')
		return skip_to(sql + 2, "*/");
	if (sql[0] == '\'' || sql[0] == '"' || sql[0] == '`')
		return skip_to(sql + 1, (const char[]){sql[0], '\0'});
	return sql;
}

const char *store_next_parameter(const char *sql, size_t *ret_size)
{
	while (*sql) {
		const char *after = skip_quiet(sql);
		size_t size = 1;

		if (after > sql) {
			sql = after;
			continue;
		}
		if (*sql != ':' || !isalpha((unsigned char)sql[1])) {
			sql++;
			continue;
		}
		while (isalnum((unsigned char)sql[size]) || sql[size] == '_')
			size++;
		*ret_size = size - 1;
		return sql + 1;
	}
	return NULL;
}
