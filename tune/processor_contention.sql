-- title: Which tasks waited for a processor that others used?
-- explanation: Tasks whose threads waited for a processor although the run itself did not use all of them then: other
--   work on the host, or a priority, was in the way. Tasks that wanted more processors than they may use by themselves
--   (too many threads, a CPU quota) are other findings.
-- finding: tune
-- parameter: run_id run = latest; the run
-- parameter: least_share share = 10%; minimum share of the wait in CPU time and that wait; source: our proposal; ClusterCockpit warns of a load above 1.2 × processors
-- parameter: most_used_share share = 80%; only if the run's tasks used at most this share of the processors meanwhile; source: above that its own tasks wait for each other
-- parameter: least_ns duration = 1s; minimum wait of all tasks of a name
-- column: task_id id; the task
-- column: name text; name of the tasks
-- column: task_count count; tasks of this name that waited
-- column: wait_ns duration; their wait, all threads
-- column: wait_share share; its share in their CPU time and that wait
-- column: used_share share; what the run's tasks used of the processors that they may use meanwhile, at most
-- column: saved_ns duration; wall time that this task would save without the wait
-- subject: name
-- impact: wall = saved_ns
-- sentence: {task_count} × {name} waited {wait_ns} for a processor ({wait_share} of their active time), while the run itself used at most {used_share} of the processors that it may use
-- advice: Look at what else ran then (tracer top, tracer runs): move it, or give this run processors of its own.
WITH run AS (
  SELECT CASE WHEN r.core_limit_milli > 0 THEN 0.001 * r.core_limit_milli
              WHEN h.core_limit_milli > 0 THEN 0.001 * h.core_limit_milli ELSE 1.0 * h.cpu_count END AS run_may_use_count
    FROM standing_runs r JOIN hosts h ON h.id = r.host_id
   WHERE r.host_id = :host_id AND r.id = :run_id
), task AS (
  SELECT id, core_limit_milli AS task_limit_milli, name AS task_name, wall_ns AS task_wall_ns, cpu_ns AS task_cpu_ns,
         begin_boot_ns AS task_begin_ns,
         end_boot_ns AS task_end_ns, run_delay_ns - coalesce(throttled_ns, 0) AS task_wait_ns,
         cpu_ns + run_delay_ns + coalesce(block_io_delay_ns, 0) + coalesce(memory_delay_ns, 0) AS active_ns
    FROM standing_tasks
   WHERE host_id = :host_id AND run_id = :run_id AND wall_ns > 0 AND cpu_ns >= 0 AND run_delay_ns >= 0
), allowed AS (
  SELECT task.id AS allowed_id, run.run_may_use_count AS run_count,
         CASE WHEN task.task_limit_milli > 0 THEN 0.001 * task.task_limit_milli ELSE run.run_may_use_count END AS may_use_count
    FROM task CROSS JOIN run
), moment AS (
  SELECT id AS moment_id, task_begin_ns AS moment_ns, 0 AS is_end, 1.0 * task_cpu_ns / task_wall_ns AS step FROM task
   UNION ALL
  SELECT id AS moment_id, task_end_ns AS moment_ns, 1 AS is_end, -1.0 * task_cpu_ns / task_wall_ns AS step FROM task
), rate AS (
  SELECT moment_id, moment_ns, is_end,
         max(moment_ns) OVER (ORDER BY moment_ns, moment_id, is_end ROWS BETWEEN 1 FOLLOWING AND 1 FOLLOWING) AS next_ns,
         sum(step) OVER (ORDER BY moment_ns, moment_id, is_end ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS cores
    FROM moment
), integral AS (
  SELECT moment_id, is_end,
         sum(cores * (next_ns - moment_ns)) OVER (ORDER BY moment_ns, moment_id, is_end
                                                  ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS until_ns
    FROM rate
), used AS (
  SELECT moment_id AS used_id, sum(CASE WHEN is_end = 1 THEN coalesce(until_ns, 0.0) ELSE -coalesce(until_ns, 0.0) END) AS used_ns
    FROM integral
   GROUP BY moment_id
), waiting AS (
  SELECT task.id AS id, task.task_name AS task_name, task.task_wall_ns AS task_wall_ns,
         task.task_wait_ns AS task_wait_ns, task.task_cpu_ns AS task_cpu_ns, task.active_ns AS active_ns,
         task.task_wall_ns - 1.0 * task.task_wall_ns * task.task_wait_ns /
           (CASE WHEN task.active_ns > task.task_wall_ns THEN task.active_ns ELSE task.task_wall_ns END) AS without_ns,
         1.0 * task.task_cpu_ns / allowed.may_use_count AS least_wall_ns,
         (CASE WHEN allowed.may_use_count < allowed.run_count THEN task.task_cpu_ns ELSE used.used_ns END) /
         (task.task_wall_ns * allowed.may_use_count) AS run_share
    FROM task JOIN used ON used.used_id = task.id
              JOIN allowed ON allowed.allowed_id = task.id
   WHERE task.active_ns <= task.task_wall_ns * allowed.may_use_count AND task.task_wait_ns > 0
     AND task.task_wait_ns >= :least_share * (task.task_cpu_ns + task.task_wait_ns)
), total AS (
  SELECT task_name AS total_name, count(*) AS all_count, sum(task_wait_ns) AS all_wait_ns, sum(task_cpu_ns) AS all_cpu_ns,
         max(run_share) AS most_share
    FROM waiting
   WHERE run_share <= :most_used_share
   GROUP BY task_name
)
SELECT waiting.id AS task_id, waiting.task_name AS name, total.all_count AS task_count, total.all_wait_ns AS wait_ns,
       1.0 * total.all_wait_ns / (total.all_cpu_ns + total.all_wait_ns) AS wait_share, total.most_share AS used_share,
       CAST(CASE WHEN waiting.without_ns > waiting.least_wall_ns THEN waiting.task_wall_ns - waiting.without_ns
                 ELSE waiting.task_wall_ns - waiting.least_wall_ns END AS BIGINT) AS saved_ns
  FROM waiting JOIN total ON total.total_name = waiting.task_name
 WHERE total.all_wait_ns >= :least_ns AND waiting.run_share <= :most_used_share
 ORDER BY wait_ns DESC, task_id;
