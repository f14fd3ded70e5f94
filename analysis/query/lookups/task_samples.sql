-- The samples of the processes of a task, by process and time.
-- :task_id the task; :host_id its host.
SELECT * FROM placed_samples
 WHERE host_id = :host_id
   AND process_id IN (SELECT id FROM processes WHERE host_id = :host_id AND task_id = :task_id)
 ORDER BY process_id, boot_ns;
