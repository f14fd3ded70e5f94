-- Why a task is a task: what set its boundary, its root process and its orchestrator.
-- :task_id the task; :host_id its host.
WITH involved AS (
  SELECT id, pid, program, role, rule, reason FROM processes
   WHERE host_id = :host_id
     AND (id IN (SELECT root_process_id FROM tasks WHERE host_id = :host_id AND id = :task_id)
          OR id IN (SELECT orchestrator_process_id FROM tasks
                     WHERE host_id = :host_id AND id = :task_id))
)
SELECT t.id AS id, t.kind AS kind, t.name AS name, t.reason AS reason, t.status AS status,
       t.merged_into_id AS merged_into_id, t.parent_task_id AS parent_task_id,
       t.working_directory AS working_directory, t.requested_thread_count AS requested_thread_count,
       t.core_limit_milli AS core_limit_milli,
       (SELECT cpu_count FROM hosts WHERE id = :host_id) AS cpu_count,
       t.root_process_id AS root_process_id, root.pid AS root_pid, root.program AS root_program,
       root.role AS root_role, root.rule AS root_rule, root.reason AS root_reason,
       t.orchestrator_process_id AS orchestrator_process_id, driver.pid AS orchestrator_pid,
       driver.program AS orchestrator_program, driver.rule AS orchestrator_rule,
       driver.reason AS orchestrator_reason,
       t.run_id AS run_id, run.name AS run_name, run.kind AS run_kind, run.reason AS run_reason
  FROM tasks t
  LEFT JOIN involved root ON root.id = t.root_process_id
  LEFT JOIN involved driver ON driver.id = t.orchestrator_process_id
  LEFT JOIN runs run ON run.host_id = :host_id AND run.id = t.run_id
 WHERE t.host_id = :host_id AND t.id = :task_id;
