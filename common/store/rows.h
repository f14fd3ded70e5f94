/* The rows of the store as C structures, and their columns as lists.
 *
 * The order and names are those of migrations/0001.sql; tests/check_store.c holds
 * the two against each other. Structures, INSERT statements and bindings are all
 * derived from these lists.
 *   I(name)  int64_t, ROW_NULL is NULL
 *   T(name)  const char *, NULL is NULL
 *   B(name)  struct row_blob, data NULL is NULL
 * Text and blobs are borrowed until the put call returns. `rev` is not here: the
 * writer gives it.
 */
#ifndef TRACER_COMMON_STORE_ROWS_H
#define TRACER_COMMON_STORE_ROWS_H

#include <stddef.h>
#include <stdint.h>

#define ROW_NULL INT64_MIN

struct row_blob {
	const void *data;
	size_t size;
};

/* Summable figures that runs, tasks, tools and processes all have. */
#define ROW_TOTALS(I) \
	I(cpu_ns) \
	I(user_ns) \
	I(system_ns) \
	I(run_delay_ns) \
	I(block_io_delay_ns) \
	I(voluntary_switches) \
	I(involuntary_switches) \
	I(minor_faults) \
	I(major_faults) \
	I(read_bytes) \
	I(write_bytes) \
	I(cancelled_write_bytes) \
	I(rchar_bytes) \
	I(wchar_bytes) \
	I(syscr_count) \
	I(syscw_count)

#define ROW_HOST_COLUMNS(I, T, B) \
	I(id) \
	T(host_key) \
	T(hostname) \
	T(boot_id) \
	I(boot_unix_ns) \
	T(kernel) \
	T(machine) \
	I(cpu_count) \
	I(memory_bytes) \
	T(probe_version) \
	I(first_seen_unix_ns) \
	I(last_seen_unix_ns)

#define ROW_CONTAINER_COLUMNS(I, T, B) \
	I(id) \
	I(host_id) \
	T(runtime) \
	T(runtime_id) \
	T(cgroup_path) \
	I(run_id) \
	I(task_id) \
	I(begin_boot_ns) \
	I(end_boot_ns) \
	I(started_unix_ns)

#define ROW_RUN_COLUMNS(I, T, B) \
	I(id) \
	I(host_id) \
	I(container_id) \
	T(kind) \
	T(name) \
	T(engine) \
	T(run_key) \
	I(root_process_id) \
	I(origin_process_id) \
	I(user_id) \
	T(working_directory) \
	T(status) \
	I(exit_code) \
	I(signal) \
	I(rules_version) \
	T(reason) \
	I(begin_boot_ns) \
	I(end_boot_ns) \
	I(root_end_boot_ns) \
	I(started_unix_ns) \
	I(task_count) \
	I(process_count) \
	I(living_count) \
	I(failed_count) \
	I(lost_count) \
	ROW_TOTALS(I) \
	I(peak_rss_bytes) \
	I(concurrent_memory_bytes)

#define ROW_TASK_COLUMNS(I, T, B) \
	I(id) \
	I(host_id) \
	I(run_id) \
	I(parent_task_id) \
	I(container_id) \
	I(merged_into_id) \
	T(kind) \
	T(name) \
	I(root_process_id) \
	I(orchestrator_process_id) \
	T(working_directory) \
	T(status) \
	I(exit_code) \
	I(signal) \
	T(reason) \
	I(begin_boot_ns) \
	I(end_boot_ns) \
	I(started_unix_ns) \
	I(process_count) \
	I(living_count) \
	I(failed_count) \
	I(lost_count) \
	ROW_TOTALS(I) \
	I(peak_rss_bytes) \
	I(concurrent_memory_bytes)

#define ROW_TOOL_COLUMNS(I, T, B) \
	I(id) \
	I(host_id) \
	I(run_id) \
	I(task_id) \
	T(name) \
	T(role) \
	I(begin_boot_ns) \
	I(end_boot_ns) \
	I(started_unix_ns) \
	I(process_count) \
	I(living_count) \
	I(failed_count) \
	ROW_TOTALS(I) \
	I(peak_rss_bytes) \
	I(concurrent_memory_bytes)

#define ROW_PROCESS_COLUMNS(I, T, B) \
	I(id) \
	I(host_id) \
	I(container_id) \
	I(run_id) \
	I(task_id) \
	I(tool_id) \
	I(parent_id) \
	I(pid) \
	I(exec_id) \
	I(user_id) \
	T(began) \
	T(ended) \
	T(totals) \
	I(begin_boot_ns) \
	I(end_boot_ns) \
	I(started_unix_ns) \
	I(exit_code) \
	I(signal) \
	I(core_dumped) \
	I(oom_killed) \
	T(role) \
	T(rule) \
	T(reason) \
	T(program) \
	T(path) \
	B(arguments) \
	I(redacted_count) \
	I(arguments_truncated) \
	T(working_directory) \
	I(spawn_cpu_ns) \
	ROW_TOTALS(I) \
	I(peak_rss_bytes)

#define ROW_SAMPLE_COLUMNS(I, T, B) \
	I(process_id) \
	I(boot_ns) \
	I(cpu_ns) \
	I(run_delay_ns) \
	I(read_bytes) \
	I(write_bytes) \
	I(rss_anon_bytes) \
	I(rss_file_bytes) \
	I(rss_shmem_bytes) \
	I(swap_bytes) \
	I(thread_count)

#define ROW_INCIDENT_COLUMNS(I, T, B) \
	I(id) \
	I(host_id) \
	I(run_id) \
	I(task_id) \
	I(process_id) \
	T(kind) \
	I(boot_ns) \
	I(unix_ns) \
	T(sentence)

#define ROW_LOSS_COLUMNS(I, T, B) \
	I(id) \
	I(host_id) \
	T(kind) \
	T(cgroup_path) \
	I(lost_count) \
	I(first_boot_ns) \
	I(last_boot_ns) \
	I(unix_ns)

#define ROW_CGROUP_COLUMNS(I, T, B) \
	I(id) \
	I(cgroup_id) \
	T(path)

/* R(NAME, name, table, key columns). `processes` is a view over how they are kept: host,
 * run and task of a process are its tool's, so its tool is put in the same transaction. */
#define ROWS(R) \
	R(HOST, host, hosts, "id") \
	R(CONTAINER, container, containers, "id") \
	R(RUN, run, runs, "id") \
	R(TASK, task, tasks, "id") \
	R(TOOL, tool, tools, "id") \
	R(PROCESS, process, processes, "id") \
	R(SAMPLE, sample, samples, "process_id, boot_ns") \
	R(INCIDENT, incident, incidents, "id") \
	R(LOSS, loss, losses, "id") \
	R(CGROUP, cgroup, cgroups, "id")

#define ROW_I(name) int64_t name;
#define ROW_T(name) const char *name;
#define ROW_B(name) struct row_blob name;
#define R(NAME, name, table, key)                                                            \
	struct row_##name {                                                                   \
		ROW_##NAME##_COLUMNS(ROW_I, ROW_T, ROW_B)                                     \
	};
ROWS(R)
#undef R
#undef ROW_I
#undef ROW_T
#undef ROW_B

#endif
