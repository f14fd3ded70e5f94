-- title: What went wrong in a run?
-- explanation: Failed tasks, crashes, kills and stalls, in the order in which they happened.
-- parameter: run_id run = latest; the run
-- columns: incidents
-- column: id id; the incident
-- column: unix_ns time; when it happened
-- column: kind text; kind of incident
-- column: task_name text; the task
-- column: pid number; process id
-- column: program text; program of the process
-- column: sentence text; what happened

-- DISTINCT keeps SQLite from scanning all processes for the join.
WITH involved AS (
  SELECT DISTINCT id AS involved_process_id, pid, program FROM processes
   WHERE host_id = :host_id
     AND id IN (SELECT process_id FROM incidents WHERE host_id = :host_id AND run_id = :run_id)
), named AS (
  SELECT id AS named_task_id, name AS task_name FROM tasks
   WHERE host_id = :host_id
     AND id IN (SELECT task_id FROM incidents WHERE host_id = :host_id AND run_id = :run_id)
)
SELECT incidents.*, named.task_name AS task_name, involved.pid AS pid,
       involved.program AS program
  FROM incidents
  LEFT JOIN named ON named.named_task_id = incidents.task_id
  LEFT JOIN involved ON involved.involved_process_id = incidents.process_id
 WHERE incidents.host_id = :host_id AND incidents.run_id = :run_id
 ORDER BY incidents.boot_ns, incidents.id;
