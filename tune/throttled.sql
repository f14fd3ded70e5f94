-- title: Which tasks were throttled by their CPU quota?
-- explanation: Tasks in a cgroup of their own whose CPU quota (cpu.max, a container's CPU limit) stopped them. The wait
--   is the run-queue delay, which includes it, unless the throttled time of the cgroup is less than half of that:
--   kernels from 6.18 on count less of it.
-- finding: tune
-- parameter: run_id run = latest; the run
-- parameter: least_share share = 25%; minimum share of the tasks' active time; source: CPUThrottlingHigh of the Kubernetes monitoring mixin, which counts periods
-- parameter: least_ns duration = 1s; minimum throttled time of all tasks of a name
-- column: task_id id; the task
-- column: name text; name of the tasks
-- column: task_count count; tasks of this name that were throttled
-- column: wait_ns duration; throttled time
-- column: wait_share share; its share of their active time
-- column: cpu_ns duration; CPU time that they used
-- column: saved_ns duration; wall time that this task would save without the quota
-- subject: name
-- impact: wall = saved_ns
-- saving: beyond
-- sentence: {task_count} × {name} were stopped for {wait_ns} by the CPU quota of their cgroup: {wait_share} of their active time
-- advice: Raise the quota (cpu.max, a container's CPU limit), or use as many threads as it allows.
WITH task AS (
  SELECT id, name AS task_name, wall_ns AS task_wall_ns, cpu_ns AS task_cpu_ns, throttled_ns AS stopped_ns,
         CASE WHEN run_delay_ns > throttled_ns AND run_delay_ns <= 2 * throttled_ns THEN run_delay_ns
              ELSE throttled_ns END AS task_wait_ns,
         coalesce(cpu_ns, 0) + coalesce(block_io_delay_ns, 0) + coalesce(memory_delay_ns, 0) +
         (CASE WHEN coalesce(run_delay_ns, 0) > throttled_ns THEN run_delay_ns ELSE throttled_ns END) AS active_ns
    FROM standing_tasks
   WHERE host_id = :host_id AND run_id = :run_id AND wall_ns > 0 AND throttled_ns > 0
), waiting AS (
  SELECT id, task_name, task_wall_ns, task_wait_ns, task_cpu_ns, active_ns
    FROM task
   WHERE stopped_ns >= :least_share * active_ns
), total AS (
  SELECT task_name AS total_name, count(*) AS all_count, sum(task_wait_ns) AS all_wait_ns,
         sum(active_ns) AS all_active_ns, sum(task_cpu_ns) AS all_cpu_ns
    FROM waiting
   GROUP BY task_name
)
SELECT waiting.id AS task_id, waiting.task_name AS name, total.all_count AS task_count, total.all_wait_ns AS wait_ns,
       1.0 * total.all_wait_ns / total.all_active_ns AS wait_share, total.all_cpu_ns AS cpu_ns,
       CAST(1.0 * waiting.task_wall_ns * waiting.task_wait_ns /
            (CASE WHEN waiting.active_ns > waiting.task_wall_ns THEN waiting.active_ns ELSE waiting.task_wall_ns END)
            AS BIGINT) AS saved_ns
  FROM waiting JOIN total ON total.total_name = waiting.task_name
 WHERE total.all_wait_ns >= :least_ns
 ORDER BY wait_ns DESC, task_id;
