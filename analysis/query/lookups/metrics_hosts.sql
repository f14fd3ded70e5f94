-- Hosts, and the counters of their latest sample, for tracer metrics. Hosts of one name in one cluster are added up.
-- :known_unix_ns hosts not seen since then are left out; :seen_unix_ns of those not seen since then only the time when
-- they were seen is known; :host only the hosts of this name, NULL: all.
WITH sample AS (
  SELECT * FROM host_samples
   WHERE unix_ns >= :seen_unix_ns
     AND (host_id, unix_ns) IN (SELECT host_id, max(unix_ns) FROM host_samples WHERE unix_ns >= :seen_unix_ns
                                 GROUP BY host_id)
)
SELECT h.cluster AS cluster, h.hostname AS host, max(h.last_seen_unix_ns) AS last_seen_unix_ns,
       sum(CASE WHEN h.last_seen_unix_ns >= :seen_unix_ns THEN coalesce(h.core_limit_milli, 1000 * h.cpu_count) END)
         AS core_milli,
       sum(CASE WHEN h.last_seen_unix_ns >= :seen_unix_ns THEN coalesce(h.memory_limit_bytes, h.memory_bytes) END)
         AS memory_bytes,
       sum(s.memory_available_bytes) AS memory_available_bytes,
       sum(s.cpu_user_ns) AS cpu_user_ns, sum(s.cpu_system_ns) AS cpu_system_ns, sum(s.cpu_idle_ns) AS cpu_idle_ns,
       sum(s.cpu_iowait_ns) AS cpu_iowait_ns, sum(s.cpu_steal_ns) AS cpu_steal_ns,
       sum(s.cpu_some_ns) AS cpu_some_ns, sum(s.memory_some_ns) AS memory_some_ns, sum(s.io_some_ns) AS io_some_ns,
       sum(s.disk_read_bytes) AS disk_read_bytes, sum(s.disk_write_bytes) AS disk_write_bytes,
       sum(s.network_received_bytes) AS network_received_bytes, sum(s.network_sent_bytes) AS network_sent_bytes
  FROM hosts h LEFT JOIN sample s ON s.host_id = h.id
 WHERE h.last_seen_unix_ns >= :known_unix_ns AND (:host IS NULL OR h.hostname = :host)
 GROUP BY h.cluster, h.hostname
 ORDER BY host, cluster NULLS FIRST;
