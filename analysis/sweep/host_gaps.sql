-- title: Which hosts stayed on without a run?
-- explanation: Time in which a host was watched, and the latest run had ended more than a grace before, or none had begun
--   yet. Time in which it was off, or not watched, does not count. The gap may still go on. A service that hardly uses
--   anything on average is no run here, but five minutes in which the host was busy as a whole do not count either.
-- finding: sweep
-- parameter: since_unix_ns time = 7d; only what was seen from then on
-- parameter: grace_ns duration = 10m; time after a run that is not a gap; source: our proposal (docs/sweep.md)
-- parameter: least_ns duration = 1h; minimum time of all gaps together; source: our proposal (docs/sweep.md)
-- parameter: most_service_cores number = 0.03; cores in use, on average over its life, up to which a service waits;
--   source: our proposal: what Google Cloud's idle VM recommendations say of a whole machine
-- parameter: most_service_bytes bytes = 2000; bytes a second, disk and network, likewise; source: our proposal: what
--   Google Cloud's idle VM recommendations say of a whole machine
-- parameter: most_cores number = 0.2; cores in use above which the host as a whole is busy; source: our proposal
--   (docs/sweep.md)
-- parameter: most_io_bytes bytes = 64K; bytes a second of disks and network above which the host as a whole is busy;
--   source: our proposal (docs/sweep.md)
-- column: gap_count count; gaps
-- column: gap_ns duration; time of all gaps, less the grace of each
-- column: busy_ns duration; time without a run in which the host was busy all the same
-- column: free_unix_ns time; no run was there from then on
-- column: held_cpu_ns duration; time of the host's cores
-- column: held_byte_seconds byte_seconds; its memory times that time
-- subject: hostname
-- impact: cpu = held_cpu_ns, memory = held_byte_seconds
-- sentence: {hostname} stayed on without a run for {gap_ns} in all, the last time after {run}
-- advice: Stop the host when its last run ends.
WITH work AS MATERIALIZED ( -- what still runs leaves the host free after all times
  SELECT host_id AS work_host_id, id AS work_run_id, started_unix_ns AS work_unix_ns,
         coalesce(end_unix_ns + :grace_ns, 4000000000000000000) AS work_free_unix_ns
    FROM work_runs
   WHERE is_service = 0 OR cpu_ns > :most_service_cores * life_ns
      OR 1000000000.0 * moved_bytes > 1.0 * :most_service_bytes * life_ns
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
  SELECT occupied_host_id AS busy_host_id, sum(active_ns) AS all_busy_ns
    FROM (SELECT occupied_host_id, occupied_unix_ns, active_ns,
                 max(occupied_free_unix_ns) OVER (PARTITION BY occupied_host_id ORDER BY occupied_unix_ns, active_ns
                                                  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS free_unix_ns
            FROM occupied) each
   WHERE active_ns > 0 AND occupied_unix_ns >= free_unix_ns
   GROUP BY occupied_host_id
), clock AS ( -- how far the wall clock was from the boot clock since it was set
  SELECT host_id AS clock_host_id, run_id AS clock_run_id, unix_ns - boot_ns AS clock_ns,
         row_number() OVER (PARTITION BY host_id, run_id ORDER BY boot_ns DESC) AS place
    FROM incidents
   WHERE kind = 'clock'
), placed_run AS ( -- as in cost_watched.sql
  SELECT r.host_id AS placed_host_id, r.wall_ns AS placed_ns,
         coalesce(r.begin_boot_ns + clock.clock_ns, r.started_unix_ns) AS placed_unix_ns
    FROM standing_runs r
    LEFT JOIN clock ON clock.clock_host_id = r.host_id AND clock.clock_run_id = r.id AND clock.place = 1
   WHERE r.kind = 'system'
      OR (r.kind = 'command' AND r.host_id NOT IN (SELECT host_id FROM runs WHERE kind = 'system'))
), watched AS MATERIALIZED (
  SELECT placed_host_id AS watched_host_id, placed_unix_ns AS watched_unix_ns,
         coalesce(placed_unix_ns + placed_ns, 4000000000000000000) AS watched_end_unix_ns
    FROM placed_run
   UNION ALL
  SELECT id, first_seen_unix_ns, last_seen_unix_ns
    FROM hosts
   WHERE id NOT IN (SELECT host_id FROM runs WHERE kind IN ('system', 'command'))
), moment AS ( -- work begins; watching begins (1) or ends (-1), of the host as such from when it was seen
  SELECT work_host_id AS moment_host_id, work_unix_ns AS at_unix_ns, work_free_unix_ns AS end_unix_ns, 0 AS of_watched,
         0 AS of_host
    FROM work
   UNION ALL
  SELECT watched_host_id, watched_unix_ns, 0, 1, 0 FROM watched
   UNION ALL
  SELECT watched_host_id, watched_end_unix_ns, 0, -1, 0 FROM watched
   UNION ALL
  SELECT id, CASE WHEN first_seen_unix_ns > :since_unix_ns THEN first_seen_unix_ns ELSE :since_unix_ns END, 0, 0, 1
    FROM hosts
   UNION ALL
  SELECT id, last_seen_unix_ns, 0, 0, -1 FROM hosts
), placed AS (
  SELECT moment_host_id, at_unix_ns, max(end_unix_ns) OVER until_here AS free_unix_ns,
         sum(of_watched) OVER until_here AS watched_count, sum(of_host) OVER until_here AS host_count,
         min(at_unix_ns) OVER (PARTITION BY moment_host_id ORDER BY at_unix_ns
                               ROWS BETWEEN 1 FOLLOWING AND 1 FOLLOWING) AS next_unix_ns
    FROM moment
  WINDOW until_here AS (PARTITION BY moment_host_id ORDER BY at_unix_ns ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
), piece AS ( -- of a gap, between two moments; it was seen while the host was watched
  SELECT moment_host_id AS piece_host_id, free_unix_ns AS piece_free_unix_ns,
         CASE WHEN at_unix_ns > free_unix_ns THEN at_unix_ns ELSE free_unix_ns END AS begin_unix_ns,
         next_unix_ns AS piece_end_unix_ns, CASE WHEN watched_count > 0 THEN 1 ELSE 0 END AS is_seen
    FROM placed
   WHERE host_count > 0 AND next_unix_ns > free_unix_ns AND next_unix_ns > at_unix_ns
), total AS MATERIALIZED (
  SELECT piece_host_id AS total_host_id, count(DISTINCT CASE WHEN is_seen = 1 THEN piece_free_unix_ns END) AS all_count,
         sum(is_seen * (piece_end_unix_ns - begin_unix_ns)) AS all_ns, sum(piece_end_unix_ns - begin_unix_ns) AS span_ns,
         min(CASE WHEN is_seen = 1 THEN begin_unix_ns END) AS first_unix_ns,
         max(CASE WHEN is_seen = 1 THEN piece_end_unix_ns END) AS last_unix_ns,
         max(CASE WHEN is_seen = 1 THEN piece_free_unix_ns END) AS latest_unix_ns
    FROM piece
   GROUP BY piece_host_id
  HAVING sum(is_seen) > 0
), ended AS ( -- the run before the latest gap, and when all work has ended
  SELECT work_host_id AS ended_host_id, max(work_free_unix_ns) AS all_free_unix_ns,
         min(CASE WHEN work_free_unix_ns = total.latest_unix_ns THEN work_run_id END) AS ended_run_id
    FROM work JOIN total ON total.total_host_id = work.work_host_id
   GROUP BY work_host_id
), found AS (
  SELECT total.total_host_id AS found_host_id, total.first_unix_ns AS first_unix_ns, total.last_unix_ns AS last_unix_ns,
         CASE WHEN total.latest_unix_ns = coalesce(ended.all_free_unix_ns, 0) THEN 1 ELSE 0 END AS is_latest,
         total.span_ns AS span_ns, ended.ended_run_id AS latest_run_id, coalesce(ended.all_free_unix_ns, 0) AS found_free_unix_ns,
         total.all_count AS found_count, total.all_ns AS found_all_ns,
         CASE WHEN busy.all_busy_ns IS NULL THEN 0 WHEN busy.all_busy_ns > total.all_ns THEN total.all_ns
              ELSE busy.all_busy_ns END AS found_busy_ns
    FROM total
    LEFT JOIN ended ON ended.ended_host_id = total.total_host_id
    LEFT JOIN busy ON busy.busy_host_id = total.total_host_id
)
SELECT h.id AS host_id, h.hostname AS hostname, found.first_unix_ns AS since_unix_ns, found.last_unix_ns AS until_unix_ns,
       found.is_latest AS is_now,
       CASE WHEN found.found_all_ns - found.found_busy_ns >= 0.95 * found.span_ns THEN 'certain' ELSE 'likely' END AS certainty,
       r.id AS run_id, r.name AS run, found.found_count AS gap_count, found.found_all_ns - found.found_busy_ns AS gap_ns,
       found.found_busy_ns AS busy_ns,
       CASE WHEN found.found_free_unix_ns > h.last_seen_unix_ns THEN h.last_seen_unix_ns
            WHEN found.found_free_unix_ns < h.first_seen_unix_ns THEN h.first_seen_unix_ns
            ELSE found.found_free_unix_ns END AS free_unix_ns,
       h.cpu_count * (found.found_all_ns - found.found_busy_ns) AS held_cpu_ns,
       CAST(1.0 * h.memory_bytes * (found.found_all_ns - found.found_busy_ns) / 1000000000 AS BIGINT) AS held_byte_seconds
  FROM hosts h
  JOIN found ON found.found_host_id = h.id
  LEFT JOIN runs r ON r.host_id = h.id AND r.id = found.latest_run_id
 WHERE found.found_all_ns - found.found_busy_ns >= :least_ns
 ORDER BY found.found_all_ns - found.found_busy_ns DESC, h.id;
