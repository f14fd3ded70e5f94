/* The built-in rules. See shipped.h. */
#include "common/rules/shipped.h"

#include "rules-shipped.h" /* made by common/embed from rules/ */

const struct rules_shipped rules_shipped[] = {
#define X(NAME, file) {file, NAME, sizeof(NAME) - 1},
	RULES_SHIPPED(X)
#undef X
};

const size_t rules_shipped_count = sizeof(rules_shipped) / sizeof(*rules_shipped);
