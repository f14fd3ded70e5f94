-- Tasks per name and day, over all hosts: number, duration, resource use. Running tasks are not
-- included. Quantiles are exact. A day is recomputed for all its names when a row of a task that started
-- on it arrives; only the last 35 days are considered, each of them whole.
--
--   day_unix_ns Int64
--   name String
--   task_count UInt64
--   host_count UInt64
--   run_count UInt64
--   failed_count UInt64
--   cpu_ns Nullable(Int64)
--   wall_ns Nullable(Int64)
--   run_delay_ns Nullable(Int64)
--   read_bytes Nullable(Int64)
--   write_bytes Nullable(Int64)
--   median_wall_ns Nullable(Int64)
--   p95_wall_ns Nullable(Int64)
--   p95_cpu_ns Nullable(Int64)
--   most_peak_rss_bytes Nullable(Int64)
--   p95_concurrent_memory_bytes Nullable(Int64)
--   computed DateTime64(3)
WITH 86400000000000 AS day_ns,
     (SELECT coalesce(toInt64(toUnixTimestamp(max(computed))), 0) FROM task_name_day_rows) AS last_s,
     if(last_s = 0, 0, (intDiv(toUnixTimestamp64Nano(now64(9)), day_ns) - 35) * day_ns) AS since_ns,
     touched AS (
       SELECT DISTINCT started_unix_ns - started_unix_ns % day_ns AS day_unix_ns
         FROM tasks_rows
        WHERE started_unix_ns >= since_ns AND arrived >= toDateTime(greatest(last_s - 600, 0)) AND kind != 'main'
     )
SELECT started_unix_ns - started_unix_ns % day_ns AS day_unix_ns,
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
       quantileExactOrNull(0.95)(concurrent_memory_bytes) AS p95_concurrent_memory_bytes,
       now64(3) AS computed
  FROM standing_tasks
 WHERE end_boot_ns IS NOT NULL AND kind != 'main' AND started_unix_ns >= since_ns
   AND started_unix_ns - started_unix_ns % day_ns IN (SELECT day_unix_ns FROM touched)
 GROUP BY day_unix_ns, name
