-- tools_between.sql with only the columns that a page shows.
-- :task_id the task; or :run_id, :first_boot_ns and :last_boot_ns; :host_id its host.
SELECT id, task_id, name, role, begin_boot_ns, end_boot_ns, process_count, failed_count, cpu_ns, run_delay_ns,
       read_bytes, write_bytes, sent_bytes, received_bytes, peak_rss_bytes, gpu_busy_ns, gpu_peak_bytes
  FROM standing_tools
 WHERE host_id = :host_id
   AND task_id IN (SELECT id FROM tasks
                    WHERE host_id = :host_id
                      AND (id = :task_id
                           OR (run_id = :run_id
                               AND begin_boot_ns BETWEEN :first_boot_ns AND :last_boot_ns)))
 ORDER BY task_id, begin_boot_ns, id;
