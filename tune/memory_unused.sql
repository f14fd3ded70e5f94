-- title: Which tasks requested much more memory than they used?
-- explanation: Tasks under a memory limit of their own (not that of the whole run, which they share) of which they used
--   little. The limit counts as the request. Use is the
--   largest sum of anonymous and shared memory that a process scan found, or the largest resident set of one process.
-- finding: tune
-- parameter: run_id run = latest; the run
-- parameter: most_share share = 70%; maximum share of the limit that was used; source: jobstats
-- parameter: least_ns duration = 5m; minimum wall time of a task; source: jobstats
-- column: task_id id; the task
-- column: name text; name of the tasks
-- column: task_count count; tasks of this name
-- column: used_bytes bytes; the most that any of them used
-- column: memory_limit_bytes bytes; the smallest limit of any of them
-- column: saved_byte_seconds byte_seconds; memory above 115 % of the most used and 128 MiB, over the task's time
-- subject: name
-- impact: memory = saved_byte_seconds
-- saving: least
-- sentence: {task_count} × {name} may use {memory_limit_bytes}, and used {used_bytes} at most
-- advice: Request less: tracer tune --right-size says how much, from all runs.
WITH run AS (
  SELECT task_count AS run_task_count, coalesce(container_id, 0) AS run_container_id,
         coalesce(memory_limit_bytes, 0) AS run_limit_bytes
    FROM standing_runs
   WHERE host_id = :host_id AND id = :run_id
), limited AS (
  SELECT id, coalesce(container_id, 0) AS task_container_id, name AS task_name, wall_ns AS task_wall_ns, memory_limit_bytes AS task_limit_bytes,
         CASE WHEN coalesce(concurrent_memory_bytes, 0) > coalesce(peak_rss_bytes, 0) THEN concurrent_memory_bytes
              ELSE peak_rss_bytes END AS task_used_bytes
    FROM standing_tasks
   WHERE host_id = :host_id AND run_id = :run_id AND wall_ns >= :least_ns AND memory_limit_bytes > 0
     AND peak_rss_bytes > 0
), task AS (
  SELECT limited.id AS id, limited.task_name AS task_name, limited.task_wall_ns AS task_wall_ns,
         limited.task_limit_bytes AS task_limit_bytes, limited.task_used_bytes AS task_used_bytes
    FROM limited CROSS JOIN run
   WHERE run.run_task_count = 0 OR run.run_container_id <> limited.task_container_id
      OR run.run_limit_bytes <> limited.task_limit_bytes
), total AS (
  SELECT task_name AS total_name, count(*) AS all_count, max(task_used_bytes) AS most_bytes,
         min(task_limit_bytes) AS least_limit_bytes
    FROM task
   GROUP BY task_name
)
SELECT task.id AS task_id, task.task_name AS name, total.all_count AS task_count, total.most_bytes AS used_bytes,
       total.least_limit_bytes AS memory_limit_bytes,
       CAST((task.task_limit_bytes - 1.15 * total.most_bytes - 134217728) * (0.000000001 * task.task_wall_ns)
            AS BIGINT) AS saved_byte_seconds
  FROM task JOIN total ON total.total_name = task.task_name
 WHERE total.most_bytes <= :most_share * total.least_limit_bytes
   AND task.task_limit_bytes > 1.15 * total.most_bytes + 134217728
 ORDER BY saved_byte_seconds DESC, task_id;
