/* Electric power of a host, modelled. See power.h. */
#include "analysis/cost/power.h"

#include <fnmatch.h>
#include <stddef.h>

struct row {
	const char *pattern; /* of the processor's name */
	int64_t idle_microwatts, full_microwatts;
};

/* The generation of an EPYC is the last digit of its number; that of a Xeon Scalable, named by a metal ([mdre]: the
 * last letter of Platinum, Gold, Silver, Bronze), the second. */
static const struct row rows[] = {
	{"AMD EPYC 7[0-9A-Z][0-9A-Z]1*", 822656, 2553125},
	{"AMD EPYC 7[0-9A-Z][0-9A-Z]2*", 474262, 1692962},
	{"AMD EPYC 7[0-9A-Z][0-9A-Z]3*", 445390, 2019328},
	{"*Xeon*[mdre] [3-9]1[0-9][0-9]*", 644604, 4193436},       /* Skylake */
	{"*Xeon*[mdre] [3-9]2[0-9][0-9]*", 638949, 3967305},       /* Cascade Lake */
	{"*Xeon* E[357]-* v4 *", 712834, 3685328},                 /* Broadwell */
	{"*Xeon* E[357]-* v3 *", 1900568, 6012910},                /* Haswell */
	{"*Xeon* E[357]-* v2 *", 3036927, 8248611},                /* Ivy Bridge */
	{"*Xeon* E5-[0-9][0-9][0-9][0-9]* 0 *", 2169441, 8575358}, /* Sandy Bridge */
	{"*Xeon*E-2[12][0-9][0-9]*", 1138426, 5421759},            /* Coffee Lake */
};
/* The average of that project's AWS machines. */
static const struct row average = {"", 740000, 3500000};

struct power power_of(const char *cpu_model)
{
	const struct row *found = &average;

	for (size_t i = 0; cpu_model && i < sizeof(rows) / sizeof(rows[0]) && found == &average; i++)
		if (fnmatch(rows[i].pattern, cpu_model, 0) == 0)
			found = &rows[i];
	return (struct power){
		.idle_microwatts = found->idle_microwatts,
		.busy_microwatts = found->full_microwatts - found->idle_microwatts,
		.is_average = found == &average,
	};
}
