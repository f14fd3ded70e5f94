-- By host and day, for how long it was watched while no work ran, and for how long it was busy then all the same. A row
-- lasts until the next one of its host. free_unix_ns is when the last work that began in it leaves the host free; much
-- later for what still runs.
-- :since_unix_ns and :until_unix_ns the time. Of the finding host_gaps: :grace_ns after a run, :most_service_cores and
-- :most_service_bytes of a service that waits; of host_idle: :most_cores and :most_io_bytes above which the host as a whole
-- is busy.
WITH waiting AS (
  SELECT r.host_id AS waiting_host_id, r.id AS waiting_run_id
    FROM standing_runs r JOIN hosts h ON h.id = r.host_id
   WHERE r.kind = 'service' AND r.engine IS NULL
     AND r.cpu_ns <= :most_service_cores * coalesce(r.wall_ns, h.last_seen_unix_ns - r.started_unix_ns)
     AND 1000000000.0 * (coalesce(r.read_bytes, 0) + coalesce(r.write_bytes, 0) + coalesce(r.sent_bytes, 0)
                         + coalesce(r.received_bytes, 0))
         <= 1.0 * :most_service_bytes * coalesce(r.wall_ns, h.last_seen_unix_ns - r.started_unix_ns)
), work AS (
  SELECT host_id AS work_host_id, started_unix_ns AS work_unix_ns,
         coalesce(started_unix_ns + wall_ns + :grace_ns, 4000000000000000000) AS work_free_unix_ns
    FROM standing_runs
   WHERE kind NOT IN ('system', 'session', 'host-service')
     AND (host_id, id) NOT IN (SELECT waiting_host_id, waiting_run_id FROM waiting)
     AND (wall_ns IS NULL OR started_unix_ns + wall_ns + :grace_ns > :since_unix_ns)
), watched AS ( -- as in cost_watched.sql
  SELECT host_id AS watched_host_id, started_unix_ns AS watched_unix_ns,
         coalesce(started_unix_ns + wall_ns, 4000000000000000000) AS watched_end_unix_ns
    FROM standing_runs
   WHERE kind = 'system'
      OR (kind = 'command' AND host_id NOT IN (SELECT host_id FROM runs WHERE kind = 'system'))
   UNION ALL
  SELECT id, first_seen_unix_ns, last_seen_unix_ns
    FROM hosts
   WHERE id NOT IN (SELECT host_id FROM runs WHERE kind IN ('system', 'command'))
), moment AS ( -- work, or watching, begins (1) or ends (-1); the host as such is watched from when it was seen
  SELECT work_host_id AS moment_host_id, work_unix_ns AS at_unix_ns, 1 AS of_work, 0 AS of_watched, 0 AS of_host,
         work_free_unix_ns AS end_unix_ns, 0 AS day_unix_ns, 0 AS active_ns
    FROM work
   UNION ALL
  SELECT work_host_id, work_free_unix_ns, -1, 0, 0, 0, 0, 0 FROM work
   UNION ALL
  SELECT watched_host_id, watched_unix_ns, 0, 1, 0, 0, 0, 0 FROM watched
   UNION ALL
  SELECT watched_host_id, watched_end_unix_ns, 0, -1, 0, 0, 0, 0 FROM watched
   UNION ALL
  SELECT id, CASE WHEN first_seen_unix_ns > :since_unix_ns THEN first_seen_unix_ns ELSE :since_unix_ns END, 0, 0, 1, 0, 0, 0
    FROM hosts
   UNION ALL
  SELECT id, CASE WHEN last_seen_unix_ns < :until_unix_ns THEN last_seen_unix_ns ELSE :until_unix_ns END, 0, 0, -1, 0, 0, 0
    FROM hosts
   UNION ALL
  SELECT hosts.id, day.unix_ns, 0, 0, 0, 0, day.unix_ns, 0
    FROM hosts
    CROSS JOIN (SELECT DISTINCT started_unix_ns - started_unix_ns % 86400000000000 AS unix_ns
                  FROM standing_runs WHERE started_unix_ns >= :since_unix_ns) day
   UNION ALL
  SELECT host_id, last_unix_ns - covered_ns, 0, 0, 0, 0, 0, covered_ns
    FROM host_activity
   WHERE begin_unix_ns >= :since_unix_ns
     AND (cpu_ns > :most_cores * covered_ns
          OR 1000000000.0 * (coalesce(disk_bytes, 0) + coalesce(network_bytes, 0)) > 1.0 * :most_io_bytes * covered_ns)
), placed AS (
  SELECT moment_host_id, at_unix_ns, end_unix_ns, active_ns,
         sum(of_work) OVER until_here AS work_count, sum(of_watched) OVER until_here AS watched_count,
         sum(of_host) OVER until_here AS host_count, max(day_unix_ns) OVER until_here AS begin_unix_ns,
         min(at_unix_ns) OVER (PARTITION BY moment_host_id
                               ORDER BY at_unix_ns, of_work, day_unix_ns
                               ROWS BETWEEN 1 FOLLOWING AND 1 FOLLOWING) AS next_unix_ns
    FROM moment
  WINDOW until_here AS (PARTITION BY moment_host_id
                        ORDER BY at_unix_ns, of_work, day_unix_ns
                        ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
)
SELECT moment_host_id AS host_id, begin_unix_ns,
       sum(CASE WHEN work_count = 0 AND watched_count > 0 AND host_count > 0 THEN next_unix_ns - at_unix_ns ELSE 0 END)
         AS gap_ns,
       sum(CASE WHEN work_count = 0 THEN active_ns ELSE 0 END) AS busy_ns, max(end_unix_ns) AS free_unix_ns
  FROM placed
 GROUP BY moment_host_id, begin_unix_ns
 ORDER BY moment_host_id, begin_unix_ns;
