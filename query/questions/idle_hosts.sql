-- title: Which hosts have been idle for a long time?
-- explanation: Time since the last run ended, excluding the system's own runs and login sessions, as of when
--   the host was last heard of. Hosts with running work are not listed. Work that began before the probe did
--   is not a run: check tracer runs --all before you give a host back.
-- parameter: least_ns duration = 1h; minimum time without work
-- parameter: limit count = 100; maximum number of hosts
-- column: id id; the host
-- column: hostname text; host name
-- column: cpu_count count; processors
-- column: memory_bytes bytes; main memory
-- column: idle_ns duration; time since the last work ended, or since the host was first seen
-- column: last_work_unix_ns time; when the last work ended; unknown if there was none
-- column: last_seen_unix_ns time; when the host was last heard of
WITH work AS (
  SELECT host_id AS work_host_id, count(*) - count(end_boot_ns) AS running_count,
         max(started_unix_ns + (end_boot_ns - begin_boot_ns)) AS ended_unix_ns
    FROM runs
   WHERE process_count > 0 AND kind NOT IN ('system', 'session', 'host-service')
   GROUP BY host_id
), host AS (
  SELECT h.id AS id, h.hostname AS hostname, h.cpu_count AS cpu_count, h.memory_bytes AS memory_bytes,
         h.last_seen_unix_ns - coalesce(work.ended_unix_ns, h.first_seen_unix_ns) AS idle_ns,
         work.ended_unix_ns AS last_work_unix_ns, h.last_seen_unix_ns AS last_seen_unix_ns
    FROM hosts h LEFT JOIN work ON work.work_host_id = h.id
   WHERE coalesce(work.running_count, 0) = 0
)
SELECT id, hostname, cpu_count, memory_bytes, idle_ns, last_work_unix_ns, last_seen_unix_ns
  FROM host
 WHERE idle_ns >= :least_ns
 ORDER BY idle_ns DESC, id
 LIMIT :limit;
