-- title: Which tasks waited for storage?
-- explanation: Tasks that waited for block devices longer than for anything else. The time is the kernel's delay
--   accounting, of all threads together; without it (see tracer host) the time in uninterruptible sleep that process
--   scans saw. What a task could save is its wall time in the share of this wait in all that its threads did.
-- finding: tune
-- parameter: run_id run = latest; the run
-- parameter: least_share share = 30%; minimum share of the tasks' active time; source: our proposal, tested with planted faults (docs/tune.md)
-- parameter: least_ns duration = 1s; minimum wait of all tasks of a name
-- column: task_id id; the task
-- column: name text; name of the tasks
-- column: task_count count; tasks of this name that waited
-- column: wait_ns duration; their wait, all threads
-- column: wait_share share; its share of their active time
-- column: read_bytes bytes; what they read from storage
-- column: write_bytes bytes; what they wrote to storage
-- column: saved_ns duration; wall time that this task would save without the wait
-- subject: name
-- impact: wall = saved_ns
-- sentence: {task_count} × {name} waited {wait_ns} for storage: {wait_share} of their active time ({read_bytes} read, {write_bytes} written)
-- advice: Keep their files on faster storage, or read and write less often and more at a time: an fsync after each write is the usual cause.
WITH task AS (
  SELECT id, name AS task_name, wall_ns AS task_wall_ns,
         CASE WHEN block_io_delay_ns IS NULL THEN coalesce(uninterruptible_ns, 0)
              WHEN block_io_delay_ns > coalesce(memory_delay_ns, 0) THEN block_io_delay_ns - coalesce(memory_delay_ns, 0)
              ELSE 0 END AS task_wait_ns,
         coalesce(cpu_ns, 0) AS on_cpu_ns, coalesce(run_delay_ns, 0) AS queue_ns,
         coalesce(memory_delay_ns, 0) AS memory_ns, read_bytes AS task_read_bytes, write_bytes AS task_write_bytes
    FROM standing_tasks
   WHERE host_id = :host_id AND run_id = :run_id AND wall_ns > 0
), waiting AS (
  SELECT id, task_name, task_wait_ns, on_cpu_ns + queue_ns + task_wait_ns + memory_ns AS active_ns, task_read_bytes,
         task_write_bytes, task_wall_ns
    FROM task
   WHERE task_wait_ns > queue_ns AND task_wait_ns > memory_ns
     AND task_wait_ns >= :least_share * (on_cpu_ns + queue_ns + task_wait_ns + memory_ns)
), total AS (
  SELECT task_name AS total_name, count(*) AS all_count, sum(task_wait_ns) AS all_wait_ns,
         sum(active_ns) AS all_active_ns, sum(task_read_bytes) AS all_read_bytes, sum(task_write_bytes) AS all_write_bytes
    FROM waiting
   GROUP BY task_name
)
SELECT waiting.id AS task_id, waiting.task_name AS name, total.all_count AS task_count, total.all_wait_ns AS wait_ns,
       1.0 * total.all_wait_ns / total.all_active_ns AS wait_share, total.all_read_bytes AS read_bytes,
       total.all_write_bytes AS write_bytes,
       CAST(1.0 * waiting.task_wall_ns * waiting.task_wait_ns /
            (CASE WHEN waiting.active_ns > waiting.task_wall_ns THEN waiting.active_ns ELSE waiting.task_wall_ns END)
            AS BIGINT) AS saved_ns
  FROM waiting JOIN total ON total.total_name = waiting.task_name
 WHERE total.all_wait_ns >= :least_ns
 ORDER BY wait_ns DESC, task_id;
