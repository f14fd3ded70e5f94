-- title: Which runs left processes behind?
-- explanation: Runs whose first process has ended while others are still there, and did nothing for some time: no
--   process of the run began or ended, and none used more than a share of a core or moved a byte of storage or network.
--   A run that works on in the background is not listed. Services, containers and what ran before the probe are left
--   out. Held is the memory at the latest scan. Whether a process is a zombie is not recorded.
-- finding: sweep
-- parameter: since_unix_ns time = 7d; only what was seen from then on
-- parameter: least_ns duration = 1h; minimum time without activity; source: our proposal (docs/sweep.md)
-- parameter: least_core_share share = 1%; share of a core above which a process is active; source: our proposal, as for
--   host_idle
-- column: process_count count; processes left
-- column: program text; one of them
-- column: left_ns duration; time since the first process ended
-- column: quiet_ns duration; time without activity
-- column: memory_bytes bytes; their memory
-- column: held_cpu_ns duration; CPU time that they used without being active
-- column: held_byte_seconds byte_seconds; their memory times the time without activity
-- subject: run
-- impact: cpu = held_cpu_ns, memory = held_byte_seconds
-- sentence: {run} ended {left_ns} ago and left {process_count} × {program} behind. In the last {quiet_ns} they used
--   {held_cpu_ns} of CPU time, moved nothing and held {memory_bytes}
-- advice: See what they wait for (tracer show RUN --processes).
WITH left_run AS MATERIALIZED (
  SELECT host_id AS left_host_id, id AS left_run_id, name AS left_name, started_unix_ns AS left_begin_unix_ns,
         begin_boot_ns AS left_begin_boot_ns, root_end_boot_ns AS left_boot_ns
    FROM work_runs
   WHERE end_boot_ns IS NULL AND root_end_boot_ns IS NOT NULL AND living_count > 0
     AND kind NOT IN ('service', 'container', 'found')
), member AS MATERIALIZED (
  SELECT p.host_id AS member_host_id, p.run_id AS member_run_id, p.id AS member_id, p.program AS member_program,
         p.begin_boot_ns AS member_begin_boot_ns, p.end_boot_ns AS member_end_boot_ns, p.cpu_ns AS member_cpu_ns,
         p.peak_rss_bytes AS member_peak_bytes
    FROM processes p
   WHERE (p.host_id, p.run_id) IN (SELECT left_host_id, left_run_id FROM left_run)
), sample AS (
  SELECT s.host_id AS sample_host_id, s.process_id AS sample_id, s.boot_ns AS sample_boot_ns, s.cpu_ns AS sample_cpu_ns,
         coalesce(s.read_bytes, 0) + coalesce(s.write_bytes, 0) + coalesce(s.sent_bytes, 0)
           + coalesce(s.received_bytes, 0) AS moved_bytes,
         coalesce(s.memory_bytes, coalesce(s.rss_anon_bytes, 0) + coalesce(s.rss_shmem_bytes, 0)) AS sample_bytes
    FROM placed_samples s
   WHERE (s.host_id, s.process_id) IN (SELECT member_host_id, member_id FROM member WHERE member_end_boot_ns IS NULL)
), step AS (
  SELECT sample_host_id, sample_id, sample_boot_ns, sample_cpu_ns, moved_bytes, sample_bytes,
         row_number() OVER (PARTITION BY sample_host_id, sample_id ORDER BY sample_boot_ns DESC) AS place,
         min(sample_boot_ns) OVER earlier AS earlier_boot_ns, min(sample_cpu_ns) OVER earlier AS earlier_cpu_ns,
         min(moved_bytes) OVER earlier AS earlier_moved_bytes
    FROM sample
  WINDOW earlier AS (PARTITION BY sample_host_id, sample_id ORDER BY sample_boot_ns ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING)
), moment AS ( -- the first process, and each other, began or ended; a sample of one that is left
  SELECT left_host_id AS moment_host_id, left_run_id AS moment_run_id, 0 AS moment_id, NULL AS moment_program,
         0 AS is_left, 1 AS is_active, left_boot_ns AS at_boot_ns, NULL AS at_cpu_ns, NULL AS at_bytes, NULL AS end_cpu_ns,
         NULL AS peak_bytes
    FROM left_run
   UNION ALL
  SELECT member_host_id, member_run_id, member_id, member_program,
         CASE WHEN member_end_boot_ns IS NULL THEN 1 ELSE 0 END, 1,
         coalesce(member_end_boot_ns, member_begin_boot_ns), NULL, NULL, member_cpu_ns, member_peak_bytes
    FROM member
   UNION ALL
  SELECT member.member_host_id, member.member_run_id, member.member_id, member.member_program, 1,
         CASE WHEN step.moved_bytes > step.earlier_moved_bytes
                   OR step.sample_cpu_ns - step.earlier_cpu_ns
                      > :least_core_share * (step.sample_boot_ns - step.earlier_boot_ns) THEN 1 ELSE 0 END,
         step.sample_boot_ns, step.sample_cpu_ns, CASE WHEN step.place = 1 THEN step.sample_bytes END,
         member.member_cpu_ns, member.member_peak_bytes
    FROM step
    JOIN member ON member.member_host_id = step.sample_host_id AND member.member_id = step.sample_id
), placed AS (
  SELECT moment_host_id, moment_run_id, moment_id, moment_program, is_left, at_boot_ns, at_cpu_ns, at_bytes, end_cpu_ns,
         peak_bytes, max(CASE WHEN is_active = 1 THEN at_boot_ns END)
                       OVER (PARTITION BY moment_host_id, moment_run_id) AS quiet_boot_ns
    FROM moment
), process AS (
  SELECT moment_host_id AS process_host_id, moment_run_id AS process_run_id, min(moment_program) AS process_program,
         min(quiet_boot_ns) AS process_quiet_boot_ns,
         max(end_cpu_ns) - coalesce(max(CASE WHEN at_boot_ns <= quiet_boot_ns THEN at_cpu_ns END), 0) AS process_cpu_ns,
         coalesce(max(at_bytes), max(peak_bytes)) AS process_bytes
    FROM placed
   WHERE is_left = 1
   GROUP BY moment_host_id, moment_run_id, moment_id
), total AS (
  SELECT process_host_id AS total_host_id, process_run_id AS total_run_id, count(*) AS total_count,
         min(process_program) AS total_program, min(process_quiet_boot_ns) AS quiet_boot_ns,
         sum(process_cpu_ns) AS total_cpu_ns, sum(process_bytes) AS total_bytes
    FROM process
   GROUP BY process_host_id, process_run_id
), found AS (
  SELECT h.id AS found_host_id, h.hostname AS found_hostname, h.last_seen_unix_ns AS found_until_unix_ns,
         left_run.left_run_id AS found_run_id, left_run.left_name AS found_run,
         left_run.left_begin_unix_ns + (left_run.left_boot_ns - left_run.left_begin_boot_ns) AS ended_unix_ns,
         left_run.left_begin_unix_ns + (total.quiet_boot_ns - left_run.left_begin_boot_ns) AS found_unix_ns,
         total.total_count AS found_count, total.total_program AS found_program, total.total_cpu_ns AS found_cpu_ns,
         total.total_bytes AS found_bytes
    FROM left_run
    JOIN hosts h ON h.id = left_run.left_host_id
    JOIN total ON total.total_host_id = left_run.left_host_id AND total.total_run_id = left_run.left_run_id
)
SELECT found_host_id AS host_id, found_hostname AS hostname, found_unix_ns AS since_unix_ns,
       found_until_unix_ns AS until_unix_ns, 1 AS is_now, 'likely' AS certainty, found_run_id AS run_id,
       found_run AS run, found_count AS process_count, found_program AS program,
       found_until_unix_ns - ended_unix_ns AS left_ns, found_until_unix_ns - found_unix_ns AS quiet_ns,
       found_bytes AS memory_bytes, found_cpu_ns AS held_cpu_ns,
       CAST(1.0 * found_bytes * (found_until_unix_ns - found_unix_ns) / 1000000000 AS BIGINT) AS held_byte_seconds
  FROM found
 WHERE found_until_unix_ns >= :since_unix_ns AND found_until_unix_ns - found_unix_ns >= :least_ns
 ORDER BY found_until_unix_ns - found_unix_ns DESC, found_run_id;
