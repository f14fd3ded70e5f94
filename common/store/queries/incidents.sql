-- What went wrong in a run, in order.
-- :run_id the run.
-- DISTINCT keeps SQLite from reading every process for the join.
WITH involved AS (
  SELECT DISTINCT id, pid, program FROM processes
   WHERE id IN (SELECT process_id FROM incidents WHERE run_id = :run_id)
)
SELECT i.*, t.name AS task_name, p.pid AS pid, p.program AS program
  FROM incidents i
  LEFT JOIN tasks t ON t.id = i.task_id
  LEFT JOIN involved p ON p.id = i.process_id
 WHERE i.run_id = :run_id
 ORDER BY i.boot_ns, i.id;
