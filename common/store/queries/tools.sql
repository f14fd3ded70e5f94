-- The tools of every task of a run, as they began.
-- :run_id the run; :host_id its host.
SELECT * FROM standing_tools
 WHERE host_id = :host_id
   AND task_id IN (SELECT id FROM tasks WHERE host_id = :host_id AND run_id = :run_id)
 ORDER BY begin_boot_ns, id;
