-- What a host did in each hour: sums of the differences between its samples. A difference
-- counts in the hour in which it ends; across a boot there is none, since the counters
-- begin anew: a sample follows the one before if the host had booted by then, that is if it
-- has been up for longer than the two are apart. NULL where the host's kernel did not tell.
SELECT host_id,
       unix_ns - unix_ns % 3600000000000 AS hour_unix_ns,
       count() AS sample_count,
       sumOrNull(elapsed_ns) AS covered_ns,
       sumOrNull(busy_ns) AS cpu_ns,
       sumOrNull(iowait_ns) AS cpu_iowait_ns,
       sumOrNull(steal_ns) AS cpu_steal_ns,
       sumOrNull(memory_stall_ns) AS memory_full_ns,
       sumOrNull(io_stall_ns) AS io_full_ns,
       sumOrNull(disk_bytes) AS disk_bytes,
       sumOrNull(network_bytes) AS network_bytes,
       minOrNull(memory_available_bytes) AS least_memory_available_bytes,
       maxOrNull(swap_used_bytes) AS most_swap_used_bytes,
       maxOrNull(running_count) AS most_running_count
  FROM (
    SELECT host_id, unix_ns, memory_available_bytes, swap_used_bytes, running_count,
           row_number() OVER host > 1 AND boot_ns > lagInFrame(boot_ns) OVER host
             AND boot_ns >= unix_ns - lagInFrame(unix_ns) OVER host AS follows,
           if(follows, boot_ns - lagInFrame(boot_ns) OVER host, NULL) AS elapsed_ns,
           cpu_user_ns + cpu_system_ns AS cpu_now_ns,
           disk_read_bytes + disk_write_bytes AS disk_now_bytes,
           network_received_bytes + network_sent_bytes AS network_now_bytes,
           if(follows, cpu_now_ns - lagInFrame(cpu_now_ns) OVER host, NULL) AS busy_ns,
           if(follows, cpu_iowait_ns - lagInFrame(cpu_iowait_ns) OVER host, NULL) AS iowait_ns,
           if(follows, cpu_steal_ns - lagInFrame(cpu_steal_ns) OVER host, NULL) AS steal_ns,
           if(follows, memory_full_ns - lagInFrame(memory_full_ns) OVER host, NULL) AS memory_stall_ns,
           if(follows, io_full_ns - lagInFrame(io_full_ns) OVER host, NULL) AS io_stall_ns,
           if(follows, disk_now_bytes - lagInFrame(disk_now_bytes) OVER host, NULL) AS disk_bytes,
           if(follows, network_now_bytes - lagInFrame(network_now_bytes) OVER host, NULL) AS network_bytes
      FROM host_samples
    WINDOW host AS (PARTITION BY host_id ORDER BY unix_ns ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)
  )
 GROUP BY host_id, hour_unix_ns
