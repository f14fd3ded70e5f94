-- The processes of a task, tool by tool; tools and processes by start.
-- :task_id the task; :host_id its host.
WITH ordered AS (
  SELECT id AS ordered_tool_id, begin_boot_ns AS tool_begin_boot_ns FROM tools
   WHERE host_id = :host_id AND task_id = :task_id
)
SELECT processes.*
  FROM processes JOIN ordered ON ordered.ordered_tool_id = processes.tool_id
 WHERE processes.host_id = :host_id AND processes.task_id = :task_id
 ORDER BY ordered.tool_begin_boot_ns, processes.tool_id, processes.begin_boot_ns, processes.id;
