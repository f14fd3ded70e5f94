-- Which GPU devices the tasks of hosts held in a time: from the first process that held them to the last. One row for each
-- list of devices of a task. busy_ns is NULL if it is not known; peak_bytes adds up what each process held at most;
-- capacity_bytes is the memory of the devices that one process held.
-- :since_unix_ns, :until_unix_ns the time; :first_host_id, :last_host_id as in cost_tasks.sql.
-- needs: all users
SELECT host_id, task_id, gpu, min(started_unix_ns) AS begin_unix_ns,
       CASE WHEN count(end_boot_ns) = count(*) THEN max(started_unix_ns + (end_boot_ns - begin_boot_ns)) END AS end_unix_ns,
       sum(gpu_busy_ns) AS busy_ns, sum(gpu_peak_bytes) AS peak_bytes, max(gpu_capacity_bytes) AS capacity_bytes
  FROM gpu_processes
 WHERE task_id IS NOT NULL
   AND host_id >= :first_host_id AND host_id <= :last_host_id AND started_unix_ns < :until_unix_ns
   AND (end_boot_ns IS NULL OR started_unix_ns + (end_boot_ns - begin_boot_ns) > :since_unix_ns)
 GROUP BY host_id, task_id, gpu
 ORDER BY host_id, task_id, gpu;
