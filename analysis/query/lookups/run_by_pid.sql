-- The latest run that had a process with a given pid.
-- :pid in the initial namespace; :since_unix_ns runs that began at or after it.
WITH recent_tools AS (
  SELECT id FROM tools
   WHERE task_id IN (SELECT id FROM tasks
                      WHERE run_id IN (SELECT id FROM runs
                                        WHERE started_unix_ns >= :since_unix_ns))
)
SELECT * FROM standing_runs
 WHERE started_unix_ns >= :since_unix_ns
   AND id IN (SELECT run_id FROM processes
               WHERE pid = :pid AND tool_id IN (SELECT id FROM recent_tools))
 ORDER BY started_unix_ns DESC, id
 LIMIT 1;
