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
WITH left_run AS (
  SELECT host_id AS left_host_id, id AS left_run_id, name AS left_name, started_unix_ns AS left_begin_unix_ns,
         begin_boot_ns AS left_begin_boot_ns, root_end_boot_ns AS left_boot_ns
    FROM standing_runs
   WHERE end_boot_ns IS NULL AND root_end_boot_ns IS NOT NULL AND living_count > 0
     AND kind NOT IN ('system', 'session', 'host-service', 'service', 'container', 'found')
), member AS (
  SELECT p.host_id AS member_host_id, p.run_id AS member_run_id, p.id AS member_id, p.program AS member_program,
         p.begin_boot_ns AS member_begin_boot_ns, p.end_boot_ns AS member_end_boot_ns, p.cpu_ns AS member_cpu_ns,
         p.peak_rss_bytes AS member_peak_bytes
    FROM processes p
   WHERE (p.host_id, p.run_id) IN (SELECT left_host_id, left_run_id FROM left_run)
), sample AS (
  SELECT s.host_id AS sample_host_id, s.process_id AS sample_id, s.boot_ns AS sample_boot_ns, s.cpu_ns AS sample_cpu_ns,
         coalesce(s.read_bytes, 0) + coalesce(s.write_bytes, 0) + coalesce(s.sent_bytes, 0)
           + coalesce(s.received_bytes, 0) AS moved_bytes,
         coalesce(s.rss_anon_bytes, 0) + coalesce(s.rss_shmem_bytes, 0) AS sample_bytes,
         row_number() OVER (PARTITION BY s.host_id, s.process_id ORDER BY s.boot_ns DESC) AS place
    FROM placed_samples s
   WHERE (s.host_id, s.process_id) IN (SELECT member_host_id, member_id FROM member WHERE member_end_boot_ns IS NULL)
), active AS (
  SELECT left_host_id AS active_host_id, left_run_id AS active_run_id, left_boot_ns AS active_boot_ns FROM left_run
   UNION ALL
  SELECT member_host_id, member_run_id, coalesce(member_end_boot_ns, member_begin_boot_ns) FROM member
   UNION ALL
  SELECT member.member_host_id, member.member_run_id, later.sample_boot_ns
    FROM sample later
    JOIN sample earlier ON earlier.sample_host_id = later.sample_host_id AND earlier.sample_id = later.sample_id
                       AND earlier.place = later.place + 1
    JOIN member ON member.member_host_id = later.sample_host_id AND member.member_id = later.sample_id
   WHERE later.moved_bytes > earlier.moved_bytes
      OR later.sample_cpu_ns - earlier.sample_cpu_ns
         > :least_core_share * (later.sample_boot_ns - earlier.sample_boot_ns)
), quiet AS (
  SELECT active_host_id AS quiet_host_id, active_run_id AS quiet_run_id, max(active_boot_ns) AS quiet_boot_ns
    FROM active
   GROUP BY active_host_id, active_run_id
), before AS (
  SELECT member.member_host_id AS before_host_id, member.member_id AS before_id,
         max(sample.sample_cpu_ns) AS before_cpu_ns
    FROM member
    JOIN quiet ON quiet.quiet_host_id = member.member_host_id AND quiet.quiet_run_id = member.member_run_id
    JOIN sample ON sample.sample_host_id = member.member_host_id AND sample.sample_id = member.member_id
   WHERE sample.sample_boot_ns <= quiet.quiet_boot_ns
   GROUP BY member.member_host_id, member.member_id
), total AS (
  SELECT member.member_host_id AS total_host_id, member.member_run_id AS total_run_id, count(*) AS total_count,
         min(member.member_program) AS total_program,
         sum(member.member_cpu_ns - coalesce(before.before_cpu_ns, 0)) AS total_cpu_ns,
         sum(coalesce(sample.sample_bytes, member.member_peak_bytes)) AS total_bytes
    FROM member
    LEFT JOIN sample ON sample.sample_host_id = member.member_host_id AND sample.sample_id = member.member_id
                    AND sample.place = 1
    LEFT JOIN before ON before.before_host_id = member.member_host_id AND before.before_id = member.member_id
   WHERE member.member_end_boot_ns IS NULL
   GROUP BY member.member_host_id, member.member_run_id
), found AS (
  SELECT h.id AS found_host_id, h.hostname AS found_hostname, h.last_seen_unix_ns AS found_until_unix_ns,
         left_run.left_run_id AS found_run_id, left_run.left_name AS found_run,
         left_run.left_begin_unix_ns + (left_run.left_boot_ns - left_run.left_begin_boot_ns) AS ended_unix_ns,
         left_run.left_begin_unix_ns + (quiet.quiet_boot_ns - left_run.left_begin_boot_ns) AS found_unix_ns,
         total.total_count AS found_count, total.total_program AS found_program, total.total_cpu_ns AS found_cpu_ns,
         total.total_bytes AS found_bytes
    FROM left_run
    JOIN hosts h ON h.id = left_run.left_host_id
    JOIN quiet ON quiet.quiet_host_id = left_run.left_host_id AND quiet.quiet_run_id = left_run.left_run_id
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
