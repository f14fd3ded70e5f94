-- The tools of one task, or of the tasks of a run that began in a time interval.
-- :task_id the task; or :run_id, :first_boot_ns and :last_boot_ns; :host_id its host.
SELECT * FROM standing_tools
 WHERE host_id = :host_id
   AND task_id IN (SELECT id FROM tasks
                    WHERE host_id = :host_id
                      AND (id = :task_id
                           OR (run_id = :run_id
                               AND begin_boot_ns BETWEEN :first_boot_ns AND :last_boot_ns)))
 ORDER BY task_id, begin_boot_ns, id;
