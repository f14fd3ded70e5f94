/* The list of prices that a verb uses. See price_list.h. */
#include "cli/price_list.h"

#include <errno.h>

#include "cli/output.h"

struct prices *price_list_load(const char *path)
{
	struct tree_error error;
	struct prices *prices;
	int result = prices_load(path ? path : PRICE_LIST_DEFAULT, !path, &prices, &error);

	if (result == 0)
		return prices;
	if (result == -ENOMEM)
		say("tracer: out of memory");
	else if (error.line)
		say("tracer: %s:%u: %s", error.file, error.line, error.reason);
	else
		say("tracer: %s: %s", error.file, error.reason);
	return NULL;
}
