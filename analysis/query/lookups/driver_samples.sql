-- CPU times of the engine or script of a run while it ran, by process and time; busy_ns with the waits for a processor.
-- :run_id the run; :host_id its host.
SELECT process_id, boot_ns, cpu_ns + coalesce(run_delay_ns, 0) AS busy_ns
  FROM placed_samples
 WHERE host_id = :host_id AND cpu_ns >= 0
   AND process_id IN (SELECT id FROM processes
                       WHERE host_id = :host_id
                         AND tool_id IN (SELECT id FROM tools
                                          WHERE host_id = :host_id
                                            AND task_id IN (SELECT id FROM tasks
                                                             WHERE host_id = :host_id AND run_id = :run_id
                                                               AND kind = 'main')))
 ORDER BY process_id, boot_ns;
