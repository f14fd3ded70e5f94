/* The figures of a line of a report. See figures.h. */
#include "query/figures.h"

#include <string.h>

void figures_add(struct figures *figures, const struct figures *other)
{
	figures->cpu_ns = row_add(figures->cpu_ns, other->cpu_ns);
	figures->run_delay_ns = row_add(figures->run_delay_ns, other->run_delay_ns);
	figures->read_bytes = row_add(figures->read_bytes, other->read_bytes);
	figures->write_bytes = row_add(figures->write_bytes, other->write_bytes);
	figures->sent_bytes = row_add(figures->sent_bytes, other->sent_bytes);
	figures->received_bytes = row_add(figures->received_bytes, other->received_bytes);
	if (other->peak_rss_bytes > figures->peak_rss_bytes) /* ROW_NULL is the least */
		figures->peak_rss_bytes = other->peak_rss_bytes;
}

#define SMALL_SHARE 20 /* a twentieth */
#define SMALL_CPU_NS INT64_C(100000000)
#define SMALL_BYTES (INT64_C(1) << 20)

static bool is_small(int64_t part, int64_t whole, int64_t least)
{
	return part < least || part < whole / SMALL_SHARE;
}

bool figures_are_small(const struct figures *part, const struct figures *whole)
{
	return is_small(part->cpu_ns, whole->cpu_ns, SMALL_CPU_NS) &&
	       is_small(part->read_bytes, whole->read_bytes, SMALL_BYTES) &&
	       is_small(part->write_bytes, whole->write_bytes, SMALL_BYTES);
}

bool figures_role_is_glue(const char *role)
{
	static const char *const roles[] = {"shell", "wrapper", "component", "helper", "origin"};

	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		if (strcmp(role, roles[i]) == 0)
			return true;
	return false;
}
