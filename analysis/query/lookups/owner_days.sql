-- By host and day, for how long it was watched while no work ran, and for how long it was busy then all the same. A row
-- lasts until the next one of its host. free_unix_ns is when the work that began until then leaves the host free; much
-- later for what still runs.
-- :since_unix_ns and :until_unix_ns the time. Of the finding host_gaps: :grace_ns after a run, :most_service_cores and
-- :most_service_bytes of a service that waits; of host_idle: :most_cores and :most_io_bytes above which the host as a whole
-- is busy.
WITH work AS MATERIALIZED (
  SELECT host_id AS work_host_id, started_unix_ns AS work_unix_ns,
         coalesce(end_unix_ns + :grace_ns, 4000000000000000000) AS work_free_unix_ns
    FROM work_runs
   WHERE coalesce(end_unix_ns + :grace_ns, 4000000000000000000) > :since_unix_ns
     AND (is_service = 0 OR cpu_ns > :most_service_cores * life_ns
          OR 1000000000.0 * moved_bytes > 1.0 * :most_service_bytes * life_ns)
), watched AS MATERIALIZED ( -- as in cost_watched.sql
  SELECT host_id AS watched_host_id, started_unix_ns AS watched_unix_ns,
         coalesce(started_unix_ns + wall_ns, 4000000000000000000) AS watched_end_unix_ns
    FROM standing_runs
   WHERE kind = 'system'
      OR (kind = 'command' AND host_id NOT IN (SELECT host_id FROM runs WHERE kind = 'system'))
   UNION ALL
  SELECT id, first_seen_unix_ns, last_seen_unix_ns
    FROM hosts
   WHERE id NOT IN (SELECT host_id FROM runs WHERE kind IN ('system', 'command'))
), occupied AS ( -- activity while the host is busy, and work that begins
  SELECT host_id AS occupied_host_id, last_unix_ns - covered_ns AS occupied_unix_ns, covered_ns AS active_ns,
         0 AS occupied_free_unix_ns
    FROM host_activity
   WHERE begin_unix_ns >= :since_unix_ns
     AND (cpu_ns > :most_cores * covered_ns
          OR 1000000000.0 * (coalesce(disk_bytes, 0) + coalesce(network_bytes, 0)) > 1.0 * :most_io_bytes * covered_ns)
   UNION ALL
  SELECT work_host_id, work_unix_ns, 0, work_free_unix_ns FROM work
), busy AS (
  SELECT occupied_host_id AS busy_host_id, max(occupied_unix_ns) AS busy_unix_ns, sum(active_ns) AS busy_ns
    FROM (SELECT occupied_host_id, occupied_unix_ns, active_ns,
                 max(occupied_free_unix_ns) OVER (PARTITION BY occupied_host_id ORDER BY occupied_unix_ns, active_ns
                                                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS free_unix_ns
            FROM occupied) each
   WHERE active_ns > 0 AND occupied_unix_ns >= free_unix_ns
   GROUP BY occupied_host_id, occupied_unix_ns - occupied_unix_ns % 86400000000000
), moment AS ( -- work begins; watching begins (1) or ends (-1), of the host as such from when it was seen; a day begins
  SELECT work_host_id AS moment_host_id, work_unix_ns AS at_unix_ns, work_free_unix_ns AS end_unix_ns, 0 AS of_watched,
         0 AS of_host, 0 AS day_unix_ns, 0 AS active_ns
    FROM work
   UNION ALL
  SELECT watched_host_id, watched_unix_ns, 0, 1, 0, 0, 0 FROM watched
   UNION ALL
  SELECT watched_host_id, watched_end_unix_ns, 0, -1, 0, 0, 0 FROM watched
   UNION ALL
  SELECT id, CASE WHEN first_seen_unix_ns > :since_unix_ns THEN first_seen_unix_ns ELSE :since_unix_ns END, 0, 0, 1, 0, 0
    FROM hosts
   UNION ALL
  SELECT id, CASE WHEN last_seen_unix_ns < :until_unix_ns THEN last_seen_unix_ns ELSE :until_unix_ns END, 0, 0, -1, 0, 0
    FROM hosts
   UNION ALL
  SELECT hosts.id, day.unix_ns, 0, 0, 0, day.unix_ns, 0
    FROM hosts
    CROSS JOIN (SELECT DISTINCT started_unix_ns - started_unix_ns % 86400000000000 AS unix_ns
                  FROM standing_runs WHERE started_unix_ns >= :since_unix_ns) day
   UNION ALL
  SELECT busy_host_id, busy_unix_ns, 0, 0, 0, 0, busy_ns FROM busy
), placed AS (
  SELECT moment_host_id, at_unix_ns, active_ns, max(end_unix_ns) OVER until_here AS free_unix_ns,
         sum(of_watched) OVER until_here AS watched_count, sum(of_host) OVER until_here AS host_count,
         max(day_unix_ns) OVER until_here AS begin_unix_ns,
         min(at_unix_ns) OVER (PARTITION BY moment_host_id ORDER BY at_unix_ns
                               ROWS BETWEEN 1 FOLLOWING AND 1 FOLLOWING) AS next_unix_ns
    FROM moment
  WINDOW until_here AS (PARTITION BY moment_host_id ORDER BY at_unix_ns ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
)
SELECT moment_host_id AS host_id, begin_unix_ns,
       sum(CASE WHEN watched_count = 0 OR host_count = 0 OR next_unix_ns <= free_unix_ns THEN 0
                WHEN at_unix_ns > free_unix_ns THEN next_unix_ns - at_unix_ns
                ELSE next_unix_ns - free_unix_ns END) AS gap_ns,
       sum(active_ns) AS busy_ns, max(free_unix_ns) AS free_unix_ns
  FROM placed
 GROUP BY moment_host_id, begin_unix_ns
 ORDER BY moment_host_id, begin_unix_ns;
