-- title: Which tasks waited for memory?
-- explanation: Tasks whose threads waited while the kernel freed memory for them (reclaim, memory.high), or read it back
--   from swap. Counted by the kernel's delay accounting: without it (see tracer host) nothing is found.
--   The kernel frees memory on the task's own CPU time: where such waits are at least half of its system time, all of
--   that counts.
-- finding: tune
-- parameter: run_id run = latest; the run
-- parameter: least_share share = 5%; minimum share of the tasks' active time; source: our proposal
-- parameter: least_ns duration = 1s; minimum wait of all tasks of a name
-- column: task_id id; the task
-- column: name text; name of the tasks
-- column: task_count count; tasks of this name that waited
-- column: wait_ns duration; their wait, all threads
-- column: wait_share share; its share of their active time
-- column: cpu_ns duration; CPU time that the kernel spent on it
-- column: saved_ns duration; wall time that this task would save without the wait
-- subject: name
-- impact: wall = saved_ns, cpu = cpu_ns
-- sentence: {task_count} × {name} waited {wait_ns} for memory: {wait_share} of their active time
-- advice: Give them more memory, or run fewer of them at the same time: memory was reclaimed or swapped while they needed it.
WITH task AS (
  SELECT id, name AS task_name, wall_ns AS task_wall_ns,
         CASE WHEN system_ns > memory_delay_ns AND system_ns <= 2 * memory_delay_ns THEN system_ns
              ELSE memory_delay_ns END AS task_wait_ns,
         CASE WHEN system_ns > 2 * memory_delay_ns THEN memory_delay_ns ELSE coalesce(system_ns, 0) END AS task_cpu_ns,
         coalesce(user_ns, 0) + coalesce(run_delay_ns, 0) +
         (CASE WHEN system_ns > 2 * memory_delay_ns THEN system_ns - memory_delay_ns ELSE 0 END) +
         (CASE WHEN block_io_delay_ns > memory_delay_ns THEN block_io_delay_ns - memory_delay_ns ELSE 0 END) AS other_ns
    FROM standing_tasks
   WHERE host_id = :host_id AND run_id = :run_id AND wall_ns > 0
     AND memory_delay_ns IS NOT NULL
), waiting AS (
  SELECT id, task_name, task_wait_ns, task_cpu_ns, task_wait_ns + other_ns AS active_ns, task_wall_ns
    FROM task
   WHERE task_wait_ns > 0 AND task_wait_ns >= :least_share * (task_wait_ns + other_ns)
), total AS (
  SELECT task_name AS total_name, count(*) AS all_count, sum(task_wait_ns) AS all_wait_ns,
         sum(active_ns) AS all_active_ns
    FROM waiting
   GROUP BY task_name
)
SELECT waiting.id AS task_id, waiting.task_name AS name, total.all_count AS task_count, total.all_wait_ns AS wait_ns,
       1.0 * total.all_wait_ns / total.all_active_ns AS wait_share, waiting.task_cpu_ns AS cpu_ns,
       CAST(1.0 * waiting.task_wall_ns * waiting.task_wait_ns /
            (CASE WHEN waiting.active_ns > waiting.task_wall_ns THEN waiting.active_ns ELSE waiting.task_wall_ns END)
            AS BIGINT) AS saved_ns
  FROM waiting JOIN total ON total.total_name = waiting.task_name
 WHERE total.all_wait_ns >= :least_ns
 ORDER BY wait_ns DESC, task_id;
