-- The processes of a task, by start.
-- :task_id the task; :host_id its host.
SELECT *, end_boot_ns - begin_boot_ns AS wall_ns FROM processes
 WHERE host_id = :host_id AND task_id = :task_id
 ORDER BY begin_boot_ns, id;
