-- title: What did failed work cost?
-- explanation: Tasks of all runs, by name: how many failed, and what the failed ones had used. Attempts
--   that were later retried successfully count too, because they used resources.
-- parameter: since_unix_ns time = 7d; only tasks that began at or after this time
-- parameter: limit count = 20; maximum number of names
-- column: name text; name of the tasks
-- column: failed_count count; tasks that failed or were killed
-- column: task_count count; all tasks with this name
-- column: failed_share share; share of the tasks that failed
-- column: lost_cpu_ns duration; CPU time of the failed tasks
-- column: lost_wall_ns duration; total wall time of the failed tasks
-- column: latest_unix_ns time; start time of the latest failed task
WITH task AS (
  SELECT name AS task_name, CASE WHEN status IN ('failed', 'killed') THEN 1 ELSE 0 END AS is_failed,
         cpu_ns AS task_cpu_ns, wall_ns AS task_wall_ns, started_unix_ns AS task_unix_ns
    FROM standing_tasks
   WHERE started_unix_ns >= :since_unix_ns AND end_boot_ns IS NOT NULL
), total AS (
  SELECT task_name, count(*) AS task_count, sum(is_failed) AS failed_count,
         sum(CASE WHEN is_failed = 1 THEN task_cpu_ns END) AS lost_cpu_ns,
         sum(CASE WHEN is_failed = 1 THEN task_wall_ns END) AS lost_wall_ns,
         max(CASE WHEN is_failed = 1 THEN task_unix_ns END) AS latest_unix_ns
    FROM task
   GROUP BY task_name
)
SELECT total.task_name AS name, total.failed_count AS failed_count, total.task_count AS task_count,
       1.0 * total.failed_count / total.task_count AS failed_share, total.lost_cpu_ns AS lost_cpu_ns,
       total.lost_wall_ns AS lost_wall_ns, total.latest_unix_ns AS latest_unix_ns
  FROM total
 WHERE total.failed_count > 0
 ORDER BY total.lost_cpu_ns DESC NULLS LAST, total.task_name
 LIMIT :limit;
