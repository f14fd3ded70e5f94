-- The processes of a run as they began, each with its parent: the tree.
-- :run_id the run.
SELECT *, end_boot_ns - begin_boot_ns AS wall_ns FROM processes
 WHERE tool_id IN (SELECT id FROM tools
                    WHERE task_id IN (SELECT id FROM tasks WHERE run_id = :run_id))
 ORDER BY begin_boot_ns, id;
