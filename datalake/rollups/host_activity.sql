-- The store's view host_activity, kept as rows: periods in which samples of a host have arrived since the last
-- refresh are recomputed, with the two next, whose differences may begin there. After the first refresh, only the last
-- 35 days are considered. The generator replaces {view} by the view's text, reading only the samples that are needed.
--
--   host_id Int64
--   begin_unix_ns Int64
--   last_unix_ns Int64
--   covered_ns Int64
--   cpu_ns Nullable(Int64)
--   most_core_milli Nullable(Int64)
--   cpu_iowait_ns Nullable(Int64)
--   cpu_steal_ns Nullable(Int64)
--   memory_full_ns Nullable(Int64)
--   io_full_ns Nullable(Int64)
--   disk_bytes Nullable(Int64)
--   network_bytes Nullable(Int64)
--   least_memory_available_bytes Nullable(Int64)
--   most_swap_used_bytes Nullable(Int64)
--   most_running_count Nullable(Int64)
--   least_memory_free_bytes Nullable(Int64)
--   most_memory_cache_bytes Nullable(Int64)
--   computed DateTime64(3)
WITH 300000000000 AS period_ns, 3600000000000 AS hour_ns,
     (SELECT coalesce(toInt64(toUnixTimestamp(max(computed))), 0) FROM host_activity_rows) AS last_s,
     if(last_s = 0, 0, toUnixTimestamp64Nano(now64(9)) - 35 * 86400000000000) AS since_ns,
     touched AS (
       SELECT host_id, unix_ns - unix_ns % period_ns + arrayJoin([0, 1, 2]) * period_ns AS touched_unix_ns
         FROM host_samples_rows
        WHERE unix_ns >= since_ns
          AND arrived >= toDateTime(greatest(last_s - 600, 0))
        GROUP BY host_id, touched_unix_ns
     )
SELECT *, now64(3) AS computed
  FROM ({view})
 WHERE (host_id, begin_unix_ns) IN (SELECT host_id, touched_unix_ns FROM touched)
