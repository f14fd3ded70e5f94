/* Additive figures. See totals.h. */
#include "correlator/model/totals.h"

static uint64_t grown(uint64_t base, uint64_t now)
{
	return now > base ? now - base : 0;
}

/* The kernel samples user and system time by ticks and scales both to the exact
 * on-CPU time (kernel/sched/cputime.c, cputime_adjust); this does the same per image. */
static void split_cpu(struct totals *totals)
{
	const uint64_t needed = COUNTER_VALID(cpu_ns) | COUNTER_VALID(user_ns) | COUNTER_VALID(system_ns);

	if ((totals->valid & needed) != needed) {
		totals->valid &= ~(COUNTER_VALID(user_ns) | COUNTER_VALID(system_ns));
		totals->user_ns = totals->system_ns = 0;
		return;
	}
	int64_t ticks = totals->user_ns + totals->system_ns;

	if (ticks == 0)
		totals->system_ns = 0;
	else
		totals->system_ns = (int64_t)((double)totals->cpu_ns * ((double)totals->system_ns / (double)ticks));
	totals->user_ns = totals->cpu_ns - totals->system_ns;
}

void totals_of_image(struct totals *ret, const struct counters *base, const struct counters *now)
{
	*ret = (struct totals){.valid = now->valid};
#define I(name) \
	if (now->valid & COUNTER_VALID(name)) \
		ret->name = (int64_t)grown(base->valid & COUNTER_VALID(name) ? base->name : 0, now->name);
	ROW_COUNTED_TOTALS(I)
#undef I
	split_cpu(ret);
}

int64_t totals_io_bytes(const struct totals *totals)
{
	return totals->read_bytes + totals->write_bytes + totals->rchar_bytes + totals->wchar_bytes +
	       totals->sent_bytes + totals->received_bytes;
}

void totals_add(struct totals *sum, const struct totals *part, int sign)
{
#define I(name) sum->name += sign > 0 ? part->name : -part->name;
	ROW_TOTALS(I)
#undef I
	if (sign > 0)
		sum->valid |= part->valid;
}

/* The figures, in the order of struct totals and of rows. */
#define BIT(name) COUNTER_VALID(name),
static const uint64_t valid_bits[] = {ROW_TOTALS(BIT)};
#undef BIT
#define TOTALS_COUNT (sizeof(valid_bits) / sizeof(valid_bits[0]))

/* Figures that some kernels or settings never record: unknown in sums too. */
#define OR_BIT(name) | COUNTER_VALID(name)
static const uint64_t optional_bits = COUNTER_VALID(block_io_delay_ns) | COUNTER_VALID(memory_delay_ns) |
				      COUNTER_VALID(sent_bytes) | COUNTER_VALID(received_bytes) |
				      COUNTER_VALID(uninterruptible_ns) ROW_GPU_TOTALS(OR_BIT);
#undef OR_BIT

void totals_to_row(const struct totals *totals, int64_t *columns, bool of_several)
{
	const int64_t *figures = (const int64_t *)totals; /* 0 if unknown */
	uint64_t known = totals->valid | (of_several ? ~optional_bits : 0);

	for (size_t i = 0; i < TOTALS_COUNT; i++)
		columns[i] = known & valid_bits[i] ? figures[i] : ROW_NULL;
}

void totals_from_row(struct totals *ret, const int64_t *columns)
{
	int64_t *figures = (int64_t *)ret;

	*ret = (struct totals){0};
	for (size_t i = 0; i < TOTALS_COUNT; i++) {
		if (columns[i] == ROW_NULL)
			continue;
		figures[i] = columns[i];
		ret->valid |= valid_bits[i];
	}
}
