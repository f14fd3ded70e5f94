-- Tools that ran in a time, by host and task, with what divides the cost of a task among them.
-- :since_unix_ns, :until_unix_ns the time; :first_host_id, :last_host_id as in cost_tasks.sql.
-- needs: all users
SELECT host_id, task_id, name, cpu_ns, peak_rss_bytes AS memory_bytes, wall_ns, gpu_busy_ns
  FROM standing_tools
 WHERE started_unix_ns < :until_unix_ns AND host_id >= :first_host_id AND host_id <= :last_host_id
   AND (wall_ns IS NULL OR started_unix_ns + wall_ns > :since_unix_ns)
 ORDER BY host_id, task_id, begin_boot_ns, id;
