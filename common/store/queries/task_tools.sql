-- The tools of a task, as they began.
-- :task_id the task; :host_id its host.
SELECT * FROM standing_tools
 WHERE host_id = :host_id AND task_id = :task_id
 ORDER BY begin_boot_ns, id;
