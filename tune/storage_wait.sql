-- title: Which tasks waited for storage?
-- explanation: Tasks that waited for block devices longer than for anything else. The time is the kernel's delay
--   accounting, of all threads together; without it (see tracer host) nothing is found. What a task could save is
--   its wall time in the share of this wait in all that its threads did.
-- finding: tune
-- parameter: run_id run = latest; the run
-- parameter: least_share share = 30%; minimum share of the tasks' active time; source: our proposal, tested with planted faults (docs/tune.md)
-- parameter: least_ns duration = 1s; minimum wait of all tasks of a name
-- column: task_id id; the task
-- column: name text; name of the tasks
-- column: task_count count; tasks of this name that waited
-- column: wait_ns duration; their wait, all threads
-- column: wait_share share; its share of their active time
-- column: write_bytes bytes; what they wrote to storage
-- column: read_bytes bytes; what they read from storage
-- column: saved_ns duration; wall time that this task would save without the wait
-- subject: name
-- impact: wall = saved_ns
-- sentence: {task_count} × {name} waited {wait_ns} for storage ({wait_share} of their active time; {read_bytes} read, {write_bytes} written)
-- advice: Use faster storage for their files, or fewer and larger writes: without fsync after each, buffered, in /dev/shm or on a local disk.
WITH task AS (
  SELECT id, name AS task_name, wall_ns AS task_wall_ns, block_io_delay_ns AS task_wait_ns,
         coalesce(cpu_ns, 0) + coalesce(run_delay_ns, 0) + block_io_delay_ns + coalesce(memory_delay_ns, 0) AS active_ns,
         coalesce(run_delay_ns, 0) AS run_ns, coalesce(memory_delay_ns, 0) AS memory_ns, read_bytes AS task_read_bytes,
         write_bytes AS task_write_bytes
    FROM standing_tasks
   WHERE host_id = :host_id AND run_id = :run_id AND wall_ns > 0 AND block_io_delay_ns > 0
), waiting AS (
  SELECT id, task_name, task_wait_ns, active_ns, task_read_bytes, task_write_bytes,
         1.0 * task_wall_ns * task_wait_ns / (CASE WHEN active_ns > task_wall_ns THEN active_ns ELSE task_wall_ns END)
           AS task_saved_ns
    FROM task
   WHERE task_wait_ns > run_ns AND task_wait_ns > memory_ns AND task_wait_ns >= :least_share * active_ns
), total AS (
  SELECT task_name AS total_name, count(*) AS task_count, sum(task_wait_ns) AS wait_ns, sum(active_ns) AS all_active_ns,
         sum(task_read_bytes) AS read_bytes, sum(task_write_bytes) AS write_bytes
    FROM waiting
   GROUP BY task_name
)
SELECT waiting.id AS task_id, waiting.task_name AS name, total.task_count AS task_count, total.wait_ns AS wait_ns,
       1.0 * total.wait_ns / total.all_active_ns AS wait_share, total.read_bytes AS read_bytes,
       total.write_bytes AS write_bytes, CAST(waiting.task_saved_ns AS BIGINT) AS saved_ns
  FROM waiting JOIN total ON total.total_name = waiting.task_name
 WHERE total.wait_ns >= :least_ns
 ORDER BY total.wait_ns DESC, waiting.id;
