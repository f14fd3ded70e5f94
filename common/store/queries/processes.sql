-- The processes of a run as they began, each with its parent: the tree.
-- :run_id the run; :host_id its host.
SELECT *, end_boot_ns - begin_boot_ns AS wall_ns FROM processes
 WHERE host_id = :host_id
   AND tool_id IN (SELECT id FROM tools
                    WHERE host_id = :host_id
                      AND task_id IN (SELECT id FROM tasks
                                       WHERE host_id = :host_id AND run_id = :run_id))
 ORDER BY begin_boot_ns, id;
