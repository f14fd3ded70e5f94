-- title: Which hosts stayed on after a run had ended?
-- explanation: Time in which a host was watched, the latest run had ended more than a grace before, and no other had
--   begun. Time in which it was off, or not watched, does not count, nor do the five minutes in which a gap began or
--   ended. The gap may still go on. A service that hardly uses anything on average is no run here, but where there is
--   one, five minutes in which the host was busy as a whole do not count either.
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
-- column: gap_count count; gaps
-- column: gap_ns duration; time of all gaps, less the grace of each
-- column: held_cpu_ns duration; time of the host's cores
-- column: held_byte_seconds byte_seconds; its memory times that time
-- subject: hostname
-- impact: cpu = held_cpu_ns, memory = held_byte_seconds
-- sentence: {hostname} stayed on without a run for {gap_ns} in all, the last time after {run}
-- advice: Stop the host when its last run ends.
WITH work AS ( -- one that runs ends after all times
  SELECT host_id AS work_host_id, id AS work_run_id, name AS work_run, started_unix_ns AS work_begin_unix_ns,
         coalesce(end_unix_ns, 9000000000000000000) AS work_end_unix_ns,
         CASE WHEN is_service = 1 AND cpu_ns <= :most_service_cores * life_ns
                   AND 1000000000.0 * moved_bytes <= 1.0 * :most_service_bytes * life_ns THEN 1 ELSE 0 END AS is_waiting
    FROM work_runs
), moment AS (
  SELECT host_id AS moment_host_id, last_unix_ns AS at_unix_ns, covered_ns AS seen_ns, 0 AS run_end_unix_ns
    FROM host_activity
   WHERE begin_unix_ns >= :since_unix_ns
     AND (coalesce(cpu_ns, 0) <= :most_cores * covered_ns
          OR host_id NOT IN (SELECT work_host_id FROM work WHERE is_waiting = 1))
   UNION ALL
  SELECT work_host_id, work_begin_unix_ns, 0, work_end_unix_ns FROM work WHERE is_waiting = 0
), placed AS (
  SELECT moment_host_id, at_unix_ns, seen_ns,
         max(run_end_unix_ns) OVER (PARTITION BY moment_host_id ORDER BY at_unix_ns, seen_ns
                                    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS free_unix_ns
    FROM moment
), gap AS (
  SELECT moment_host_id AS gap_host_id, free_unix_ns AS gap_unix_ns, min(at_unix_ns - seen_ns) AS first_unix_ns,
         max(at_unix_ns) AS last_unix_ns, sum(seen_ns) AS all_seen_ns
    FROM placed
   WHERE seen_ns > 0 AND free_unix_ns > 0 AND at_unix_ns - seen_ns >= free_unix_ns + :grace_ns
   GROUP BY moment_host_id, free_unix_ns
), total AS (
  SELECT gap_host_id AS total_host_id, count(*) AS gap_count, sum(all_seen_ns) AS gap_ns,
         min(first_unix_ns) AS since_unix_ns, max(last_unix_ns) AS until_unix_ns, max(gap_unix_ns) AS latest_unix_ns,
         sum(last_unix_ns - first_unix_ns) AS span_ns
    FROM gap
   GROUP BY gap_host_id
), ended AS (
  SELECT work_host_id AS ended_host_id, work_end_unix_ns AS ended_unix_ns, work_run_id AS ended_run_id, work_run AS ended_run,
         row_number() OVER (PARTITION BY work_host_id, work_end_unix_ns ORDER BY work_run_id) AS place,
         max(work_end_unix_ns) OVER (PARTITION BY work_host_id) AS latest_unix_ns
    FROM work
   WHERE is_waiting = 0
)
SELECT h.id AS host_id, h.hostname AS hostname, total.since_unix_ns AS since_unix_ns,
       total.until_unix_ns AS until_unix_ns, CASE WHEN ended.ended_unix_ns = ended.latest_unix_ns THEN 1 ELSE 0 END AS is_now,
       CASE WHEN total.gap_ns >= 0.95 * total.span_ns THEN 'certain' ELSE 'likely' END AS certainty,
       ended.ended_run_id AS run_id, ended.ended_run AS run, total.gap_count AS gap_count, total.gap_ns AS gap_ns,
       h.cpu_count * total.gap_ns AS held_cpu_ns,
       CAST(1.0 * h.memory_bytes * total.gap_ns / 1000000000 AS BIGINT) AS held_byte_seconds
  FROM hosts h
  JOIN total ON total.total_host_id = h.id
  JOIN ended ON ended.ended_host_id = h.id AND ended.ended_unix_ns = total.latest_unix_ns
 WHERE ended.place = 1 AND total.gap_ns >= :least_ns
 ORDER BY total.gap_ns DESC, h.id;
