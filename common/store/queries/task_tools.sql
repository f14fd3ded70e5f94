-- The tools of a task, as they began.
-- :task_id the task.
SELECT * FROM standing_tools
 WHERE task_id = :task_id
 ORDER BY begin_boot_ns, id;
