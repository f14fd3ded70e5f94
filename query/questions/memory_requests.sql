-- title: How much of the memory that tasks may have do they use?
-- explanation: Tasks by name, of all runs, that ran in a cgroup with a limit of its own: a job of a batch
--   system, a container. The limit is what was asked for. What is used is the peak of the cgroup, or
--   where that is unknown of the task's processes together.
-- parameter: since_unix_ns time = 30d; tasks that began since
-- parameter: limit count = 20; at most so many names
-- column: name text; of the tasks
-- column: task_count count; tasks
-- column: memory_limit_bytes bytes; the highest limit
-- column: used_bytes bytes; the most that any of them used
-- column: used_share share; of the limit
-- column: unused_bytes bytes; that none of them used
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
