-- The columns of a run's tasks that a report keeps in memory.
-- :run_id the run; :host_id its host.
SELECT id, parent_task_id, retried_by_id, begin_boot_ns, end_boot_ns, kind, status, process_count,
       CASE WHEN gpu_busy_ns IS NULL AND gpu_peak_bytes IS NULL
            THEN cpu_ns + coalesce(run_delay_ns, 0) + coalesce(uninterruptible_ns, 0) END AS active_ns
  FROM standing_tasks
 WHERE host_id = :host_id AND run_id = :run_id
 ORDER BY begin_boot_ns, id;
