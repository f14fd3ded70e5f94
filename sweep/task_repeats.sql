-- title: What was done more than once, by host?
-- explanation: Processes that succeeded, with the same command line in the same directory, of all runs. All but the
--   longest count. Whether they did the same work also depends on their input, so this is never more than likely.
--   Scheduled work and services are left out, as are processes of less than a minimum CPU time.
-- finding: sweep
-- parameter: since_unix_ns time = 7d; only what was seen from then on
-- parameter: least_each_ns duration = 10s; minimum CPU time of each process; source: our proposal (docs/sweep.md)
-- parameter: least_ns duration = 10m; minimum CPU time of all but the longest; source: our proposal (docs/sweep.md)
-- column: program text; the program
-- column: arguments arguments; command line
-- column: process_count count; processes
-- column: run_count count; runs that they belong to
-- column: held_cpu_ns duration; CPU time of all but the longest
-- column: held_byte_seconds byte_seconds; their mean memory times the wall time of all but one
-- subject: arguments
-- impact: cpu = held_cpu_ns, memory = held_byte_seconds
-- sentence: {process_count} × {program} with the same command line: {held_cpu_ns} of CPU time for the same
-- advice: If its input did not change, resume the run instead (-resume, --rerun-incomplete).
WITH run AS (
  SELECT host_id AS run_host_id, id AS work_run_id, name AS work_run
    FROM standing_runs
   WHERE kind NOT IN ('system', 'session', 'host-service', 'service', 'cron')
), process AS (
  SELECT host_id AS process_host_id, run_id AS process_run_id, program AS process_program,
         arguments AS same_arguments, working_directory AS same_directory, cpu_ns AS process_cpu_ns,
         started_unix_ns AS begin_unix_ns, started_unix_ns + (end_boot_ns - begin_boot_ns) AS end_unix_ns,
         1.0 * peak_rss_bytes * (end_boot_ns - begin_boot_ns) / 1000000000 AS process_byte_seconds, id AS same_id
    FROM processes
   WHERE started_unix_ns >= :since_unix_ns AND cpu_ns >= :least_each_ns AND exit_code = 0
     AND length(arguments) > 0 AND working_directory IS NOT NULL
     AND (host_id, run_id) IN (SELECT run_host_id, work_run_id FROM run)
), again AS (
  SELECT process_host_id AS again_host_id, same_arguments AS again_arguments, same_directory AS again_directory
    FROM process
   GROUP BY process_host_id, same_arguments, same_directory
  HAVING count(*) > 1 AND sum(process_cpu_ns) - max(process_cpu_ns) >= :least_ns
), repeated AS (
  SELECT again.again_host_id AS repeated_host_id, again.again_arguments AS repeated_arguments,
         again.again_directory AS repeated_directory, process.process_run_id AS repeated_run_id,
         process.process_program AS repeated_program, process.process_cpu_ns AS repeated_cpu_ns,
         process.begin_unix_ns AS begin_unix_ns, process.end_unix_ns AS end_unix_ns,
         process.process_byte_seconds AS repeated_byte_seconds,
         row_number() OVER (PARTITION BY again.again_host_id, again.again_arguments, again.again_directory
                            ORDER BY process.begin_unix_ns DESC, process.same_id) AS place
    FROM again
    JOIN process ON process.process_host_id = again.again_host_id
                AND process.same_arguments = again.again_arguments AND process.same_directory = again.again_directory
), total AS (
  SELECT repeated_host_id AS total_host_id, repeated_arguments AS total_arguments, count(*) AS process_count,
         count(DISTINCT repeated_run_id) AS run_count, min(begin_unix_ns) AS first_unix_ns,
         max(end_unix_ns) AS last_unix_ns, sum(repeated_cpu_ns) - max(repeated_cpu_ns) AS again_cpu_ns,
         sum(repeated_byte_seconds) AS all_byte_seconds,
         max(CASE WHEN place = 1 THEN repeated_run_id END) AS latest_run_id,
         max(CASE WHEN place = 1 THEN repeated_program END) AS latest_program
    FROM repeated
   GROUP BY repeated_host_id, repeated_arguments, repeated_directory
)
SELECT h.id AS host_id, h.hostname AS hostname, total.first_unix_ns AS since_unix_ns,
       total.last_unix_ns AS until_unix_ns, 0 AS is_now, 'likely' AS certainty, run.work_run_id AS run_id,
       run.work_run AS run, total.latest_program AS program, total.total_arguments AS arguments,
       total.process_count AS process_count, total.run_count AS run_count, total.again_cpu_ns AS held_cpu_ns,
       CAST(1.0 * total.all_byte_seconds * (total.process_count - 1) / total.process_count AS BIGINT)
         AS held_byte_seconds
  FROM total
  JOIN run ON run.run_host_id = total.total_host_id AND run.work_run_id = total.latest_run_id
  JOIN hosts h ON h.id = total.total_host_id
 ORDER BY total.again_cpu_ns DESC, total.total_host_id, total.first_unix_ns;
