-- Tasks of a name on each day, over all hosts: how many, how long, how much. Tasks that
-- live on are not in the figures yet. Quantiles are exact.
SELECT started_unix_ns - started_unix_ns % 86400000000000 AS day_unix_ns,
       name,
       count() AS task_count,
       uniqExact(host_id) AS host_count,
       uniqExact(run_id) AS run_count,
       countIf(status IN ('failed', 'killed')) AS failed_count,
       sum(cpu_ns) AS cpu_ns,
       sum(wall_ns) AS wall_ns,
       sum(run_delay_ns) AS run_delay_ns,
       sum(read_bytes) AS read_bytes,
       sum(write_bytes) AS write_bytes,
       quantileExactOrNull(0.5)(wall_ns) AS median_wall_ns,
       quantileExactOrNull(0.95)(wall_ns) AS p95_wall_ns,
       quantileExactOrNull(0.95)(cpu_ns) AS p95_cpu_ns,
       maxOrNull(peak_rss_bytes) AS most_peak_rss_bytes,
       quantileExactOrNull(0.95)(concurrent_memory_bytes) AS p95_concurrent_memory_bytes
  FROM standing_tasks
 WHERE end_boot_ns IS NOT NULL AND kind != 'main'
 GROUP BY day_unix_ns, name
