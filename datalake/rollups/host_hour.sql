-- Activity of each host per hour: sums of the differences between its samples. A difference counts for
-- the hour in which it ends. Differences across a boot are excluded, since the counters restart (a sample
-- continues the previous one if the host had been up for at least the time between them), and so are those over
-- more than an hour. NULL if the kernel of the host did not report a value. An hour is recomputed when a
-- sample of it or of the previous hour arrives; only the last 35 days are considered.
--
--   host_id Int64
--   hour_unix_ns Int64
--   sample_count UInt64
--   covered_ns Nullable(Int64)
--   cpu_ns Nullable(Int64)
--   cpu_iowait_ns Nullable(Int64)
--   cpu_steal_ns Nullable(Int64)
--   memory_full_ns Nullable(Int64)
--   io_full_ns Nullable(Int64)
--   disk_bytes Nullable(Int64)
--   network_bytes Nullable(Int64)
--   least_memory_available_bytes Nullable(Int64)
--   most_swap_used_bytes Nullable(Int64)
--   most_running_count Nullable(Int64)
--   computed DateTime64(3)
WITH 3600000000000 AS hour_ns,
     (SELECT coalesce(toInt64(toUnixTimestamp(max(computed))), 0) FROM host_hour_rows) AS last_s,
     if(last_s = 0, 0, toUnixTimestamp64Nano(now64(9)) - 35 * 24 * hour_ns) AS since_ns,
     touched AS (
       SELECT host_id, arrayJoin([unix_ns - unix_ns % hour_ns, unix_ns - unix_ns % hour_ns + hour_ns]) AS hour_unix_ns
         FROM host_samples_rows
        WHERE unix_ns >= since_ns AND arrived >= toDateTime(greatest(last_s - 600, 0))
        GROUP BY host_id, hour_unix_ns
     )
SELECT host_id,
       unix_ns - unix_ns % hour_ns AS hour_unix_ns,
       count() AS sample_count,
       sumOrNull(elapsed_ns) AS covered_ns,
       sumOrNull(busy_ns) AS cpu_ns,
       sumOrNull(iowait_ns) AS cpu_iowait_ns,
       sumOrNull(steal_ns) AS cpu_steal_ns,
       sumOrNull(memory_stall_ns) AS memory_full_ns,
       sumOrNull(io_stall_ns) AS io_full_ns,
       sumOrNull(disk_moved_bytes) AS disk_bytes,
       sumOrNull(network_moved_bytes) AS network_bytes,
       minOrNull(memory_available_bytes) AS least_memory_available_bytes,
       maxOrNull(swap_used_bytes) AS most_swap_used_bytes,
       maxOrNull(running_count) AS most_running_count,
       now64(3) AS computed
  FROM (
    SELECT host_id, unix_ns, memory_available_bytes, swap_used_bytes, running_count,
           boot_ns - lagInFrame(boot_ns) OVER host AS booted_ns, unix_ns - lagInFrame(unix_ns) OVER host AS apart_ns,
           row_number() OVER host > 1 AND booted_ns > 0 AND boot_ns >= apart_ns AND apart_ns <= hour_ns AS follows,
           if(follows, booted_ns, NULL) AS elapsed_ns,
           cpu_user_ns + cpu_system_ns AS cpu_now_ns,
           disk_read_bytes + disk_write_bytes AS disk_now_bytes,
           network_received_bytes + network_sent_bytes AS network_now_bytes,
           if(follows, cpu_now_ns - lagInFrame(cpu_now_ns) OVER host, NULL) AS busy_ns,
           if(follows, cpu_iowait_ns - lagInFrame(cpu_iowait_ns) OVER host, NULL) AS iowait_ns,
           if(follows, cpu_steal_ns - lagInFrame(cpu_steal_ns) OVER host, NULL) AS steal_ns,
           if(follows, memory_full_ns - lagInFrame(memory_full_ns) OVER host, NULL) AS memory_stall_ns,
           if(follows, io_full_ns - lagInFrame(io_full_ns) OVER host, NULL) AS io_stall_ns,
           if(follows, disk_now_bytes - lagInFrame(disk_now_bytes) OVER host, NULL) AS disk_moved_bytes,
           if(follows, network_now_bytes - lagInFrame(network_now_bytes) OVER host, NULL) AS network_moved_bytes
      FROM host_samples
     WHERE unix_ns >= since_ns - hour_ns AND host_id IN (SELECT host_id FROM touched)
       AND ((host_id, unix_ns - unix_ns % hour_ns) IN (SELECT host_id, hour_unix_ns FROM touched)
            OR (host_id, unix_ns - unix_ns % hour_ns + hour_ns) IN (SELECT host_id, hour_unix_ns FROM touched))
    WINDOW host AS (PARTITION BY host_id ORDER BY unix_ns ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)
  )
 WHERE (host_id, unix_ns - unix_ns % hour_ns) IN (SELECT host_id, hour_unix_ns FROM touched)
 GROUP BY host_id, hour_unix_ns
