-- title: Which runs left processes behind?
-- explanation: Runs whose first process has ended while others still run: orphans. Services, containers and what ran
--   before the probe are left out. Held are the CPU time since then and the memory that they had at the latest scan.
--   Whether a process is a zombie is not recorded.
-- finding: sweep
-- parameter: since_unix_ns time = 7d; only what was seen from then on
-- parameter: least_ns duration = 10m; minimum time since the first process ended; source: our proposal (docs/sweep.md)
-- column: host_id id; the host
-- column: hostname text; host name
-- column: since_unix_ns time; when it began
-- column: until_unix_ns time; when it ended, or was last seen
-- column: is_now flag; whether it went on when the host was last heard of
-- column: certainty text; certain, or likely if something in that time was not seen
-- column: run_id id; the run it is tied to; unknown if none
-- column: run text; name of that run
-- column: process_count count; processes left
-- column: program text; one of them
-- column: left_ns duration; time since the first process ended
-- column: memory_bytes bytes; their memory
-- column: held_cpu_ns duration; CPU time that they used since then
-- column: held_byte_seconds byte_seconds; their memory times that time
-- subject: run
-- impact: cpu = held_cpu_ns, memory = held_byte_seconds
-- sentence: {process_count} processes of {run}, such as {program}, still run {left_ns} after it ended
-- advice: End them if nobody needs them (tracer show RUN --processes), and let the run wait for its children.
WITH left_run AS (
  SELECT host_id AS left_host_id, id AS left_run_id, name AS left_name, started_unix_ns AS left_begin_unix_ns,
         begin_boot_ns AS left_begin_boot_ns, root_end_boot_ns AS left_boot_ns,
         started_unix_ns + (root_end_boot_ns - begin_boot_ns) AS left_unix_ns, lost_count AS left_lost_count
    FROM standing_runs
   WHERE end_boot_ns IS NULL AND root_end_boot_ns IS NOT NULL AND living_count > 0
     AND kind NOT IN ('system', 'session', 'host-service', 'service', 'container', 'found')
), living AS (
  SELECT p.host_id AS living_host_id, p.run_id AS living_run_id, p.id AS living_id, p.program AS living_program,
         p.cpu_ns AS living_cpu_ns, p.peak_rss_bytes AS living_peak_bytes
    FROM processes p
   WHERE p.end_boot_ns IS NULL AND (p.host_id, p.run_id) IN (SELECT left_host_id, left_run_id FROM left_run)
), sample AS (
  SELECT s.host_id AS sample_host_id, s.process_id AS sample_id, s.boot_ns AS sample_boot_ns, s.cpu_ns AS sample_cpu_ns,
         coalesce(s.rss_anon_bytes, 0) + coalesce(s.rss_shmem_bytes, 0) AS sample_bytes,
         row_number() OVER (PARTITION BY s.host_id, s.process_id ORDER BY s.boot_ns DESC) AS place
    FROM placed_samples s
   WHERE (s.host_id, s.process_id) IN (SELECT living_host_id, living_id FROM living)
), before AS (
  SELECT living.living_host_id AS before_host_id, living.living_id AS before_id,
         max(sample.sample_cpu_ns) AS before_cpu_ns
    FROM living
    JOIN left_run ON left_run.left_host_id = living.living_host_id AND left_run.left_run_id = living.living_run_id
    JOIN sample ON sample.sample_host_id = living.living_host_id AND sample.sample_id = living.living_id
   WHERE sample.sample_boot_ns <= left_run.left_boot_ns
   GROUP BY living.living_host_id, living.living_id
), total AS (
  SELECT living.living_host_id AS total_host_id, living.living_run_id AS total_run_id, count(*) AS total_count,
         min(living.living_program) AS total_program,
         sum(living.living_cpu_ns - coalesce(before.before_cpu_ns, 0)) AS total_cpu_ns,
         sum(coalesce(sample.sample_bytes, living.living_peak_bytes)) AS total_bytes
    FROM living
    LEFT JOIN sample ON sample.sample_host_id = living.living_host_id AND sample.sample_id = living.living_id
                    AND sample.place = 1
    LEFT JOIN before ON before.before_host_id = living.living_host_id AND before.before_id = living.living_id
   GROUP BY living.living_host_id, living.living_run_id
)
SELECT h.id AS host_id, h.hostname AS hostname, left_run.left_unix_ns AS since_unix_ns,
       h.last_seen_unix_ns AS until_unix_ns, 1 AS is_now,
       CASE WHEN left_run.left_lost_count > 0 THEN 'likely' ELSE 'certain' END AS certainty,
       left_run.left_run_id AS run_id, left_run.left_name AS run, total.total_count AS process_count,
       total.total_program AS program, h.last_seen_unix_ns - left_run.left_unix_ns AS left_ns,
       total.total_bytes AS memory_bytes, total.total_cpu_ns AS held_cpu_ns,
       CAST(1.0 * total.total_bytes * (h.last_seen_unix_ns - left_run.left_unix_ns) / 1000000000 AS BIGINT)
         AS held_byte_seconds
  FROM left_run
  JOIN hosts h ON h.id = left_run.left_host_id
  JOIN total ON total.total_host_id = left_run.left_host_id AND total.total_run_id = left_run.left_run_id
 WHERE h.last_seen_unix_ns >= :since_unix_ns AND h.last_seen_unix_ns - left_run.left_unix_ns >= :least_ns
 ORDER BY left_ns DESC, left_run.left_run_id;
