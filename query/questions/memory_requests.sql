-- title: How much of their memory limit do tasks use?
-- explanation: Tasks of all runs, by name, that ran in a cgroup with its own memory limit, such as a job of
--   a batch system or a container. The limit is what was requested. Usage is the peak of the cgroup or,
--   if that is unknown, of the task's processes together.
-- parameter: since_unix_ns time = 30d; only tasks that began at or after this time
-- parameter: limit count = 20; maximum number of names
-- column: name text; name of the tasks
-- column: task_count count; tasks
-- column: memory_limit_bytes bytes; highest limit
-- column: used_bytes bytes; highest usage of any of the tasks
-- column: used_share share; used share of the limit
-- column: unused_bytes bytes; part of the limit that none of the tasks used
WITH task AS (
  SELECT name AS task_name, memory_limit_bytes AS limit_bytes,
         coalesce(cgroup_peak_bytes, concurrent_memory_bytes, peak_rss_bytes) AS peak_bytes
    FROM standing_tasks
   WHERE started_unix_ns >= :since_unix_ns AND end_boot_ns IS NOT NULL AND memory_limit_bytes > 0
), total AS (
  SELECT task_name, count(*) AS task_count, max(limit_bytes) AS memory_limit_bytes, max(peak_bytes) AS used_bytes
    FROM task
   GROUP BY task_name
)
SELECT total.task_name AS name, total.task_count AS task_count, total.memory_limit_bytes AS memory_limit_bytes,
       total.used_bytes AS used_bytes, 1.0 * total.used_bytes / total.memory_limit_bytes AS used_share,
       total.memory_limit_bytes - total.used_bytes AS unused_bytes
  FROM total
 ORDER BY unused_bytes DESC NULLS LAST, total.task_name
 LIMIT :limit;
