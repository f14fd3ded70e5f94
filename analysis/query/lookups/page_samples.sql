-- The samples of the processes of a task, by process and time. Only the columns that a page shows.
-- :task_id the task; :host_id its host.
SELECT process_id, boot_ns, cpu_ns, run_delay_ns, read_bytes, write_bytes, sent_bytes, received_bytes,
       coalesce(memory_bytes, coalesce(rss_anon_bytes, 0) + coalesce(rss_shmem_bytes, 0)) AS memory_bytes, uninterruptible_count, gpu_busy_ns, gpu_memory_bytes
  FROM placed_samples
 WHERE host_id = :host_id
   AND process_id IN (SELECT id FROM processes WHERE host_id = :host_id AND task_id = :task_id)
 ORDER BY process_id, boot_ns;
