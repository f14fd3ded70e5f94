/* Finds the run of a command. See run_started.h. */
#include "analysis/query/run_started.h"

#include <string.h>

#define CLOCKS_DIFFER_NS 1000000000 /* two clocks are read separately: a run may seem to begin a little earlier */
#define EXEC_LATE_NS 2000000        /* an exec is recorded a little after it closed the pipe of who started it */
#define RUNS_MAX 100000             /* that are searched */

/* Whether the arguments of a process end like the command's: those of a script begin with its
 * interpreter. Redacted or truncated arguments always match. */
static bool arguments_fit(const struct row_process *process, char **argv)
{
	const char *data = process->arguments.data;
	size_t size = process->arguments.size, tail = 0;

	if (!data || process->redacted_count > 0 || process->arguments_truncated > 0)
		return true;
	for (size_t i = 1; argv[i]; i++)
		tail += strlen(argv[i]) + 1;
	if (tail > size)
		return false;
	data += size - tail;
	for (size_t i = 1; argv[i]; data += strlen(argv[i++]) + 1)
		if (memcmp(data, argv[i], strlen(argv[i]) + 1) != 0)
			return false;
	return true;
}

/* Returns 1 if the run may be the command's, else 0 or -errno. */
static int run_fits(const struct row_run *run, struct store *store, const struct run_started *started)
{
	struct store_parameter range[] = {
		{"first_id", STORE_INTEGER, run->root_process_id, NULL},
		{"last_id", STORE_INTEGER, run->root_process_id, NULL},
		{0},
	};
	struct rows roots = {0};
	int fits;

	if (run->begin_boot_ns < started->boot_ns[0] || run->begin_boot_ns > started->boot_ns[1] + EXEC_LATE_NS ||
	    run->user_id != (int64_t)started->user_id)
		return 0;
	fits = rows_load(&roots, &row_type_process, store, "process", range);
	if (fits == 0)
		fits = roots.count == 1 && arguments_fit(ROWS_ITEM(&roots, process, 0), started->argv);
	rows_free(&roots);
	return fits;
}

/* Keeps the run that fits, as the first; no rows if there is none or several. */
static int run_choose(struct rows *runs, struct store *store, const struct run_started *started)
{
	size_t found = 0;
	int fits = 0;

	for (size_t i = 0; i < runs->count && fits >= 0; i++) {
		fits = run_fits(ROWS_ITEM(runs, run, i), store, started);
		if (fits > 0 && found++ == 0)
			*ROWS_ITEM(runs, run, 0) = *ROWS_ITEM(runs, run, i);
	}
	if (found != 1 || fits < 0)
		rows_free(runs);
	return fits < 0 ? fits : 0;
}

int run_started_find(struct store *store, const struct run_started *started, struct rows *ret_runs)
{
	int64_t since_unix_ns = started->begin_unix_ns - CLOCKS_DIFFER_NS;
	struct store_parameter by_pid[] = {
		{"pid", STORE_INTEGER, started->pid, NULL},
		{"since_unix_ns", STORE_INTEGER, since_unix_ns, NULL},
		{0},
	};
	struct store_parameter by_begin[] = {
		{"since_unix_ns", STORE_INTEGER, since_unix_ns, NULL},
		{"with_system", STORE_INTEGER, 1, NULL},
		{"limit", STORE_INTEGER, RUNS_MAX, NULL},
		{"candidate_limit", STORE_INTEGER, RUNS_MAX, NULL},
		{0},
	};
	int error = rows_load(ret_runs, &row_type_run, store, started->pid ? "run_by_pid" : "runs",
			      started->pid ? by_pid : by_begin);

	return error < 0 || started->pid ? error : run_choose(ret_runs, store, started);
}
