/* The rows of the store as C structures, and their columns as lists.
 *
 * The names are those of migrations/ and views.sql; tests/check_writer.c checks that
 * they agree. Structures, INSERT statements and bindings are all
 * derived from these lists.
 *   I(name)  int64_t, ROW_NULL is NULL
 *   T(name)  const char *, NULL is NULL
 *   B(name)  struct row_blob, data NULL is NULL
 * Text and blobs are borrowed until the put call returns. `rev` is not listed: the
 * writer assigns it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define ROW_NULL INT64_MIN

struct row_blob {
	const void *data;
	size_t size;
};

/* Totals common to runs, tasks, tools and processes: those counted in records, and,
 * in ROW_TOTALS, one accumulated by process scans and those of samplers. */
#define ROW_COUNTED_TOTALS(I) \
	I(cpu_ns) \
	I(user_ns) \
	I(system_ns) \
	I(run_delay_ns) \
	I(block_io_delay_ns) \
	I(memory_delay_ns) \
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
	I(syscw_count) \
	I(sent_bytes) \
	I(received_bytes)

#define ROW_GPU_TOTALS(I) \
	I(gpu_busy_ns) \
	I(gpu_energy_uj) \
	I(gpu_throttled_ns) \
	I(gpu_clock_ns) \
	I(gpu_memory_clock_ns) \
	I(gpu_memory_busy_ns)

#define ROW_TOTALS(I) \
	ROW_COUNTED_TOTALS(I) \
	I(uninterruptible_ns) \
	ROW_GPU_TOTALS(I)

/* runs.reason of a run that was recorded without a probe: incomplete, whatever its figures say. */
#define ROW_REASON_PARTIAL "command of tracer run, partial: without a probe"

/* Limits and usage of a cgroup. */
#define ROW_LIMITS(I) \
	I(memory_limit_bytes) \
	I(cgroup_peak_bytes) \
	I(throttled_ns)

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
	I(last_seen_unix_ns) \
	T(os) \
	T(kernel_build) \
	T(vendor) \
	T(product) \
	T(asset_tag) \
	T(cpu_model) \
	I(core_count) \
	I(swap_bytes) \
	I(memory_limit_bytes) \
	I(core_limit_milli) \
	I(delay_accounting) \
	T(cluster) \
	T(gpus)

#define ROW_CONTAINER_COLUMNS(I, T, B) \
	I(id) \
	I(host_id) \
	T(runtime) \
	T(runtime_id) \
	T(cgroup_path) \
	T(image) \
	T(name) \
	I(pid_namespace) \
	I(mount_namespace) \
	I(run_id) \
	I(task_id) \
	I(begin_boot_ns) \
	I(end_boot_ns) \
	I(started_unix_ns) \
	ROW_LIMITS(I)

/* Aggregates of runs, tasks and tools over their processes. */
#define ROW_TALLY(I) \
	I(begin_boot_ns) \
	I(end_boot_ns) \
	I(started_unix_ns) \
	I(process_count) \
	I(living_count) \
	I(failed_count) \
	ROW_TOTALS(I) \
	I(peak_rss_bytes) \
	I(gpu_peak_bytes) \
	I(concurrent_memory_bytes) \
	I(unattributed_memory_bytes) \
	I(partial_count)

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
	ROW_TALLY(I) \
	I(root_end_boot_ns) \
	I(task_count) \
	I(lost_count) \
	ROW_LIMITS(I) \
	I(core_limit_milli)

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
	ROW_TALLY(I) \
	I(lost_count) \
	ROW_LIMITS(I) \
	T(label) \
	I(retried_by_id) \
	I(requested_thread_count) \
	I(core_limit_milli)

#define ROW_TOOL_COLUMNS(I, T, B) \
	I(id) \
	I(host_id) \
	I(run_id) \
	I(task_id) \
	T(name) \
	T(role) \
	ROW_TALLY(I) \
	I(requested_thread_count)

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
	I(peak_rss_bytes) \
	T(gpu) \
	I(gpu_peak_bytes) \
	I(gpu_capacity_bytes) \
	I(failed) \
	I(partial)

#define ROW_SAMPLE_COLUMNS(I, T, B) \
	I(process_id) \
	I(boot_ns) \
	I(cpu_ns) \
	I(run_delay_ns) \
	I(read_bytes) \
	I(write_bytes) \
	I(sent_bytes) \
	I(received_bytes) \
	I(rss_anon_bytes) \
	I(rss_file_bytes) \
	I(rss_shmem_bytes) \
	I(swap_bytes) \
	I(thread_count) \
	I(uninterruptible_count) \
	I(gpu_busy_ns) \
	I(gpu_memory_bytes) \
	I(memory_bytes) \
	I(file_position_bytes) \
	I(file_size_bytes)

#define ROW_INCIDENT_COLUMNS(I, T, B) \
	I(id) \
	I(host_id) \
	I(run_id) \
	I(task_id) \
	I(process_id) \
	T(kind) \
	I(boot_ns) \
	I(end_boot_ns) \
	I(unix_ns) \
	T(sentence) \
	T(cause) \
	I(sender_process_id) \
	T(sender_program) \
	I(sender_user_id) \
	I(fatal)

#define ROW_LOSS_COLUMNS(I, T, B) \
	I(id) \
	I(host_id) \
	T(kind) \
	T(cgroup_path) \
	I(lost_count) \
	I(first_boot_ns) \
	I(last_boot_ns) \
	I(unix_ns)

/* Counters of the host since its boot; the parsers of correlator/host/host.c fill them. */
#define ROW_HOST_FIGURES(I) \
	I(cpu_user_ns) \
	I(cpu_system_ns) \
	I(cpu_idle_ns) \
	I(cpu_iowait_ns) \
	I(cpu_steal_ns) \
	I(running_count) \
	I(blocked_count) \
	I(load_milli) \
	I(memory_available_bytes) \
	I(memory_free_bytes) \
	I(memory_cache_bytes) \
	I(memory_dirty_bytes) \
	I(swap_used_bytes) \
	I(cpu_some_ns) \
	I(memory_some_ns) \
	I(memory_full_ns) \
	I(io_some_ns) \
	I(io_full_ns) \
	I(disk_read_bytes) \
	I(disk_write_bytes) \
	I(disk_read_count) \
	I(disk_write_count) \
	I(disk_busy_ns) \
	I(network_received_bytes) \
	I(network_sent_bytes) \
	I(network_dropped_count)

#define ROW_HOST_SAMPLE_COLUMNS(I, T, B) \
	I(host_id) \
	I(unix_ns) \
	I(boot_ns) \
	ROW_HOST_FIGURES(I)

#define ROW_FILE_SYSTEM_SAMPLE_COLUMNS(I, T, B) \
	I(host_id) \
	I(unix_ns) \
	T(mount_point) \
	T(type) \
	I(total_bytes) \
	I(available_bytes)

#define ROW_CGROUP_COLUMNS(I, T, B) \
	I(id) \
	I(cgroup_id) \
	T(path)

/* R(NAME, name, table, key columns). `processes` is a view of the stored rows: host,
 * run and task of a process are those of its tool, which must be put in the same transaction. */
#define ROWS(R) ROWS_AND_PROCESS(R, R)

/* With P instead of R for processes, of which some columns are in other tables. */
#define ROWS_AND_PROCESS(R, P) \
	R(HOST, host, hosts, "id") \
	R(CONTAINER, container, containers, "id") \
	R(RUN, run, runs, "id") \
	R(TASK, task, tasks, "id") \
	R(TOOL, tool, tools, "id") \
	P(PROCESS, process, processes, "id") \
	ROW_FACTS(R) \
	R(CGROUP, cgroup, cgroups, "id")

/* Facts, which do not change once written. */
#define ROW_FACTS(R) \
	R(SAMPLE, sample, samples, "process_id, boot_ns") \
	R(HOST_SAMPLE, host_sample, host_samples, "host_id, unix_ns") \
	R(FILE_SYSTEM_SAMPLE, file_system_sample, file_system_samples, "host_id, unix_ns, mount_point") \
	R(INCIDENT, incident, incidents, "id") \
	R(LOSS, loss, losses, "id")

#define ROW_I(name) int64_t name;
#define ROW_T(name) const char *name;
#define ROW_B(name) struct row_blob name;
#define R(NAME, name, table, key) \
	struct row_##name { \
		ROW_##NAME##_COLUMNS(ROW_I, ROW_T, ROW_B) \
	};
ROWS(R)
#undef R
#undef ROW_I
#undef ROW_T
#undef ROW_B
