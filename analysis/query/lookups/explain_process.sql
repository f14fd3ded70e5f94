-- Why a process is what it is: its role, and whose it is.
-- :process_id the process; :host_id its host.
-- DISTINCT keeps SQLite from scanning all processes for the join.
WITH parents AS (
  SELECT DISTINCT id, pid, program, role FROM processes
   WHERE host_id = :host_id
     AND id IN (SELECT parent_id FROM processes WHERE host_id = :host_id AND id = :process_id)
)
SELECT p.id AS id, p.pid AS pid, p.program AS program, p.path AS path, p.arguments AS arguments,
       p.working_directory AS working_directory, p.began AS began, p.ended AS ended,
       p.gpu AS gpu, p.gpu_busy_ns AS gpu_busy_ns, p.gpu_peak_bytes AS gpu_peak_bytes,
       p.gpu_capacity_bytes AS gpu_capacity_bytes, p.totals AS totals, p.role AS role, p.rule AS rule, p.reason AS reason,
       p.parent_id AS parent_id, parent.pid AS parent_pid, parent.program AS parent_program,
       parent.role AS parent_role,
       p.tool_id AS tool_id, tool.name AS tool_name, tool.role AS tool_role,
       p.task_id AS task_id, task.name AS task_name, task.label AS task_label, task.kind AS task_kind,
       task.reason AS task_reason,
       p.run_id AS run_id, run.name AS run_name, run.kind AS run_kind, run.reason AS run_reason
  FROM processes p
  LEFT JOIN parents parent ON parent.id = p.parent_id
  LEFT JOIN tools tool ON tool.host_id = :host_id AND tool.id = p.tool_id
  LEFT JOIN tasks task ON task.host_id = :host_id AND task.id = p.task_id
  LEFT JOIN runs run ON run.host_id = :host_id AND run.id = p.run_id
 WHERE p.host_id = :host_id AND p.id = :process_id;
