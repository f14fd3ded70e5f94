-- The tools of every task of a run, as they began.
-- :run_id the run.
SELECT * FROM standing_tools
 WHERE task_id IN (SELECT id FROM tasks WHERE run_id = :run_id)
 ORDER BY begin_boot_ns, id;
