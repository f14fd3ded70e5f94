-- The processes of a task, tool by tool; tools and processes by start. Only the columns that a page shows.
-- :task_id the task; :host_id its host.
WITH ordered AS (
  SELECT id AS ordered_tool_id, begin_boot_ns AS tool_begin_boot_ns FROM tools
   WHERE host_id = :host_id AND task_id = :task_id
)
SELECT processes.id AS id, processes.tool_id AS tool_id, processes.parent_id AS parent_id, processes.pid AS pid,
       processes.user_id AS user_id, processes.began AS began, processes.ended AS ended, processes.totals AS totals,
       processes.begin_boot_ns AS begin_boot_ns, processes.end_boot_ns AS end_boot_ns,
       processes.exit_code AS exit_code, processes.signal AS signal, processes.oom_killed AS oom_killed,
       processes.program AS program, processes.arguments AS arguments, processes.cpu_ns AS cpu_ns,
       processes.run_delay_ns AS run_delay_ns, processes.read_bytes AS read_bytes,
       processes.write_bytes AS write_bytes, processes.peak_rss_bytes AS peak_rss_bytes,
       processes.sent_bytes AS sent_bytes, processes.received_bytes AS received_bytes, processes.failed AS failed,
       processes.partial AS partial, processes.gpu_busy_ns AS gpu_busy_ns, processes.gpu_peak_bytes AS gpu_peak_bytes
  FROM processes JOIN ordered ON ordered.ordered_tool_id = processes.tool_id
 WHERE processes.host_id = :host_id AND processes.task_id = :task_id
 ORDER BY ordered.tool_begin_boot_ns, processes.tool_id, processes.begin_boot_ns, processes.id;
