-- title: What did failed work cost, by host?
-- explanation: Tasks that failed or were killed, retried or not, by name: the CPU time and GPU time that they used,
--   and their memory times their wall time. The run is the latest of them.
-- finding: sweep
-- parameter: since_unix_ns time = 7d; only what was seen from then on
-- parameter: least_ns duration = 10m; minimum wall time of all failed tasks of a name; source: our proposal
--   (docs/sweep.md)
-- column: name text; name of the tasks
-- column: failed_count count; tasks that failed
-- column: run_count count; runs that they belong to
-- column: failed_wall_ns duration; their wall time
-- column: held_cpu_ns duration; CPU time that they used
-- column: held_gpu_ns duration; time that GPUs worked for them
-- column: held_byte_seconds byte_seconds; their memory times their wall time
-- subject: name
-- impact: cpu = held_cpu_ns, memory = held_byte_seconds, gpu = held_gpu_ns
-- sentence: {failed_count} × {name} failed, after {failed_wall_ns} in all: {held_cpu_ns} of CPU time
-- advice: See why they failed (tracer failed --all RUN).
WITH task AS (
  SELECT t.host_id AS task_host_id, t.run_id AS task_run_id, r.name AS task_run, t.name AS task_name,
         t.started_unix_ns AS begin_unix_ns, t.started_unix_ns + t.wall_ns AS end_unix_ns, t.wall_ns AS task_wall_ns,
         t.cpu_ns AS task_cpu_ns, t.gpu_busy_ns AS task_gpu_ns, t.lost_count AS task_lost_count,
         t.peak_memory_bytes * (1.0 * t.wall_ns / 1000000000) AS task_byte_seconds,
         row_number() OVER (PARTITION BY t.host_id, t.name ORDER BY t.started_unix_ns DESC, t.id) AS place
    FROM standing_tasks t JOIN work_runs r ON r.host_id = t.host_id AND r.id = t.run_id
   WHERE t.started_unix_ns >= :since_unix_ns AND t.status IN ('failed', 'killed') AND t.end_boot_ns IS NOT NULL
), total AS (
  SELECT task_host_id AS total_host_id, task_name AS total_name, count(*) AS failed_count,
         count(DISTINCT task_run_id) AS run_count, min(begin_unix_ns) AS first_unix_ns,
         max(end_unix_ns) AS last_unix_ns, sum(task_wall_ns) AS total_wall_ns, sum(task_cpu_ns) AS total_cpu_ns,
         sum(task_gpu_ns) AS total_gpu_ns,
         sum(task_byte_seconds) AS total_byte_seconds, sum(task_lost_count) AS total_lost_count,
         max(CASE WHEN place = 1 THEN task_run_id END) AS latest_run_id,
         max(CASE WHEN place = 1 THEN task_run END) AS latest_run
    FROM task
   GROUP BY task_host_id, task_name
)
SELECT h.id AS host_id, h.hostname AS hostname, total.first_unix_ns AS since_unix_ns,
       total.last_unix_ns AS until_unix_ns, 0 AS is_now,
       CASE WHEN total.total_lost_count > 0 THEN 'likely' ELSE 'certain' END AS certainty, total.latest_run_id AS run_id,
       total.latest_run AS run, total.total_name AS name, total.failed_count AS failed_count,
       total.run_count AS run_count, total.total_wall_ns AS failed_wall_ns, total.total_cpu_ns AS held_cpu_ns,
       total.total_gpu_ns AS held_gpu_ns, CAST(total.total_byte_seconds AS BIGINT) AS held_byte_seconds
  FROM total
  JOIN hosts h ON h.id = total.total_host_id
 WHERE total.total_wall_ns >= :least_ns
 ORDER BY total.total_cpu_ns DESC NULLS LAST, total.total_host_id, total.total_name;
