-- The tasks of a run: its pseudo-task first, then as they began.
-- :run_id the run; :host_id its host.
SELECT * FROM standing_tasks
 WHERE host_id = :host_id AND run_id = :run_id
 ORDER BY CASE WHEN kind = 'main' THEN 0 ELSE 1 END, begin_boot_ns, id;
