/* Field-by-field comparison, generated from the lists in messages.h. */
#include "tests/wire_compare.h"

#include <string.h>

static bool bytes_equal(const struct wire_bytes *a, const struct wire_bytes *b)
{
	return a->size == b->size && (a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
}

#define U(name) &&a->name == b->name
#define T(name) &&bytes_equal(&a->name, &b->name)
#define M(NAME, name, number) \
	static bool message_##name##_equal(const struct wire_##name *a, const struct wire_##name *b) \
	{ \
		return true WIRE_##NAME##_FIELDS(U, T); \
	}
WIRE_MESSAGES(M)
#undef M
bool wire_message_equal(const struct wire_message *a, const struct wire_message *b)
{
	if (a->type != b->type)
		return false;
	switch (a->type) {
#define M(NAME, name, number) \
	case WIRE_##NAME: return message_##name##_equal(&a->name, &b->name);
		WIRE_MESSAGES(M)
#undef M
	}
	return false;
}
