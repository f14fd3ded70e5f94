-- When no work ran on each host, and for how long the host was busy all the same. free_unix_ns is 0 before the first
-- run, next_unix_ns NULL after the last one.
-- :since_unix_ns from then on.
-- Work, a service that waits, the ten minutes after a run and a busy host are what they are in the findings host_gaps
-- and host_idle.
WITH waiting AS (
  SELECT r.host_id AS waiting_host_id, r.id AS waiting_run_id
    FROM standing_runs r JOIN hosts h ON h.id = r.host_id
   WHERE r.kind = 'service' AND r.engine IS NULL
     AND r.cpu_ns <= 0.03 * coalesce(r.wall_ns, h.last_seen_unix_ns - r.started_unix_ns)
     AND 1000000000.0 * (coalesce(r.read_bytes, 0) + coalesce(r.write_bytes, 0) + coalesce(r.sent_bytes, 0)
                         + coalesce(r.received_bytes, 0))
         <= 2000.0 * coalesce(r.wall_ns, h.last_seen_unix_ns - r.started_unix_ns)
), moment AS (
  SELECT host_id AS moment_host_id, started_unix_ns AS at_unix_ns, 1 AS is_work, 0 AS seen_ns,
         coalesce(started_unix_ns + wall_ns + 600000000000, 9000000000000000000) AS end_unix_ns
    FROM standing_runs
   WHERE kind NOT IN ('system', 'session', 'host-service')
     AND (host_id, id) NOT IN (SELECT waiting_host_id, waiting_run_id FROM waiting)
     AND (wall_ns IS NULL OR started_unix_ns + wall_ns + 600000000000 > :since_unix_ns)
   UNION ALL
  SELECT host_id, last_unix_ns - covered_ns, 0, covered_ns, 0
    FROM host_activity
   WHERE begin_unix_ns >= :since_unix_ns
     AND (cpu_ns > 0.2 * covered_ns
          OR 1000000000.0 * (coalesce(disk_bytes, 0) + coalesce(network_bytes, 0)) > 65536.0 * covered_ns)
   UNION ALL
  SELECT id, 9000000000000000001, 0, 0, 0 FROM hosts
), placed AS (
  SELECT moment_host_id, at_unix_ns, is_work, seen_ns,
         coalesce(max(end_unix_ns) OVER (PARTITION BY moment_host_id ORDER BY at_unix_ns, is_work, end_unix_ns, seen_ns
                                         ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before_unix_ns
    FROM moment
)
SELECT moment_host_id AS host_id, before_unix_ns AS free_unix_ns,
       min(CASE WHEN is_work = 1 THEN at_unix_ns END) AS next_unix_ns, sum(seen_ns) AS busy_ns
  FROM placed
 WHERE at_unix_ns >= before_unix_ns AND before_unix_ns < 9000000000000000000
 GROUP BY moment_host_id, before_unix_ns
 ORDER BY moment_host_id, before_unix_ns;
