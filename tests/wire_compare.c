/* Field-by-field comparison, generated from the lists in messages.h and events.h. */
#include "tests/wire_compare.h"

#include <string.h>

static bool bytes_equal(const struct wire_bytes *a, const struct wire_bytes *b)
{
	return a->size == b->size && (a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
}

static bool strings_equal(const struct event_strings *a, const struct event_strings *b)
{
	if (a->count != b->count)
		return false;
	for (uint32_t i = 0; i < a->count; i++) {
		if (!bytes_equal(&a->item[i], &b->item[i]))
			return false;
	}
	return true;
}

static bool image_equal(const struct image_key *a, const struct image_key *b)
{
	return a->pid == b->pid && a->exec_id == b->exec_id && a->start_boot_ns == b->start_boot_ns;
}

static bool counters_equal(const struct counters *a, const struct counters *b)
{
#define X(name, source) &&a->name == b->name
	return a->valid == b->valid RECORD_COUNTERS(X);
#undef X
}

#define U(name) &&a->name == b->name
#define S(name) U(name)
#define T(name) &&bytes_equal(&a->name, &b->name)
#define A(name) &&strings_equal(&a->name, &b->name)
#define I(name) &&image_equal(&a->name, &b->name)
#define C(name) &&counters_equal(&a->name, &b->name)
#define M(NAME, name, number) \
	static bool message_##name##_equal(const struct wire_##name *a, const struct wire_##name *b) \
	{ \
		return true WIRE_##NAME##_FIELDS(U, T); \
	}
WIRE_MESSAGES(M)
#undef M
#define E(NAME, name) \
	static bool event_##name##_equal(const struct event_##name *a, const struct event_##name *b) \
	{ \
		return true EVENT_HEADER_FIELDS(U, I) EVENT_##NAME##_FIELDS(U, S, T, A, I, C); \
	}
EVENTS(E)
#undef E

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

bool event_equal(const struct event *a, const struct event *b)
{
	if (a->type != b->type)
		return false;
	switch (a->type) {
#define E(NAME, name) \
	case EVENT_##NAME: return event_##name##_equal(&a->name, &b->name);
		EVENTS(E)
#undef E
	}
	return false;
}
