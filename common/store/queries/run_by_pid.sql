-- The run that a process of a pid belongs to, begun since: the latest.
-- :pid in the initial namespace; :since_unix_ns.
SELECT * FROM standing_runs r
 WHERE started_unix_ns >= :since_unix_ns
   AND EXISTS (SELECT 1 FROM processes p
                WHERE p.tool_id IN (SELECT id FROM tools
                                     WHERE task_id IN (SELECT id FROM tasks WHERE run_id = r.id))
                  AND p.pid = :pid)
 ORDER BY started_unix_ns DESC, id
 LIMIT 1;
