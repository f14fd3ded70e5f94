-- The tasks of a run: its pseudo-task first, then as they began.
-- :run_id the run.
SELECT * FROM standing_tasks
 WHERE run_id = :run_id
 ORDER BY CASE WHEN kind = 'main' THEN 0 ELSE 1 END, begin_boot_ns, id;
