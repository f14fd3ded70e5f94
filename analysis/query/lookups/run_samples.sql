-- The samples of all processes of a run, by process and time.
-- :run_id the run; :host_id its host.
SELECT * FROM placed_samples
 WHERE host_id = :host_id
   AND process_id IN (SELECT id FROM processes
                       WHERE host_id = :host_id
                         AND tool_id IN (SELECT id FROM tools
                                          WHERE host_id = :host_id
                                            AND task_id IN (SELECT id FROM tasks
                                                             WHERE host_id = :host_id AND run_id = :run_id)))
 ORDER BY process_id, boot_ns;
