/* The power of processors, by their names in /proc/cpuinfo. */
#include "analysis/cost/power.h"

#include "tests/suite.h"

static const struct {
	const char *cpu_model;
	int64_t idle_microwatts, full_microwatts; /* 0: not in the table */
} cases[] = {
	{"AMD EPYC 7571", 822656, 2553125},
	{"AMD EPYC 7551P 32-Core Processor", 822656, 2553125},
	{"AMD EPYC 7R32", 474262, 1692962},
	{"AMD EPYC 7742 64-Core Processor", 474262, 1692962},
	{"AMD EPYC 7H12 64-Core Processor", 474262, 1692962},
	{"AMD EPYC 7R13 Processor", 445390, 2019328},
	{"AMD EPYC 7V73X 64-Core Processor", 445390, 2019328},
	{"AMD EPYC 9654 96-Core Processor", 0, 0},
	{"Intel(R) Xeon(R) Platinum 8175M CPU @ 2.50GHz", 644604, 4193436},
	{"Intel(R) Xeon(R) Bronze 3104 CPU @ 1.70GHz", 644604, 4193436},
	{"Intel(R) Xeon(R) Platinum 8259CL CPU @ 2.50GHz", 638949, 3967305},
	{"Intel(R) Xeon(R) Gold 6248 CPU @ 2.50GHz", 638949, 3967305},
	{"Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz", 0, 0}, /* Ice Lake */
	{"Intel(R) Xeon Phi(TM) CPU 7210 @ 1.30GHz", 0, 0},
	{"Intel(R) Xeon(R) CPU E5-2686 v4 @ 2.30GHz", 712834, 3685328},
	{"Intel(R) Xeon(R) CPU E7-8880 v3 @ 2.30GHz", 1900568, 6012910},
	{"Intel(R) Xeon(R) CPU E5-2680 v2 @ 2.80GHz", 3036927, 8248611},
	{"Intel(R) Xeon(R) CPU E5-2670 0 @ 2.60GHz", 2169441, 8575358},
	{"Intel(R) Xeon(R) E-2278G CPU @ 3.40GHz", 1138426, 5421759},
	{"Intel(R) Xeon(R) CPU @ 2.20GHz", 0, 0}, /* Google Cloud does not say which */
	{"", 0, 0},
	{NULL, 0, 0},
};

TEST_EACH(a_name_tells_the_power, cases)
{
	struct power power = power_of(cases[_i].cpu_model);

	ck_assert_int_eq(power.is_average, cases[_i].full_microwatts == 0);
	ck_assert_int_eq(power.idle_microwatts, power.is_average ? 740000 : cases[_i].idle_microwatts);
	ck_assert_int_eq(power.idle_microwatts + power.busy_microwatts,
			 power.is_average ? 3500000 : cases[_i].full_microwatts);
}

int main(void)
{
	return suite_run("power", NULL, NULL);
}
