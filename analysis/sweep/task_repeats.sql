-- title: What was done more than once, by host?
-- explanation: Processes that succeeded, with the same command line in the same directory, of all runs. All but the
--   longest count. Whether they did the same work also depends on their input, so this is never more than likely.
--   Scheduled work and services are left out, as are processes of less than a minimum CPU time. The run is one of them.
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
WITH run AS MATERIALIZED (
  SELECT host_id AS run_host_id, id AS work_run_id, name AS work_run
    FROM work_runs
   WHERE kind NOT IN ('service', 'cron')
), done AS MATERIALIZED (
  SELECT host_id AS done_host_id, id AS done_id, command_key AS done_key
    FROM repeatable_versions
   WHERE started_unix_ns >= :since_unix_ns AND cpu_ns >= :least_each_ns AND exit_code = 0
), total AS (
  SELECT host_id AS total_host_id, arguments AS total_arguments, count(*) AS all_count,
         count(DISTINCT run_id) AS all_run_count, max(run_id) AS total_run_id, max(program) AS total_program,
         min(started_unix_ns) AS first_unix_ns, max(started_unix_ns + wall_ns) AS last_unix_ns,
         sum(cpu_ns) - max(cpu_ns) AS again_cpu_ns,
         sum(1.0 * peak_rss_bytes * wall_ns / 1000000000) AS all_byte_seconds
    FROM repeatable_processes
   WHERE (host_id, id) IN (SELECT done_host_id, done_id FROM done
                            WHERE done_key IN (SELECT done_key FROM done GROUP BY done_key HAVING count(*) > 1))
     AND started_unix_ns >= :since_unix_ns AND cpu_ns >= :least_each_ns AND exit_code = 0
     AND (host_id, run_id) IN (SELECT run_host_id, work_run_id FROM run)
   GROUP BY host_id, arguments, working_directory
  HAVING count(*) > 1 AND sum(cpu_ns) - max(cpu_ns) >= :least_ns
)
SELECT h.id AS host_id, h.hostname AS hostname, total.first_unix_ns AS since_unix_ns,
       total.last_unix_ns AS until_unix_ns, 0 AS is_now, 'likely' AS certainty, run.work_run_id AS run_id,
       run.work_run AS run, total.total_program AS program, total.total_arguments AS arguments,
       total.all_count AS process_count, total.all_run_count AS run_count, total.again_cpu_ns AS held_cpu_ns,
       CAST(1.0 * total.all_byte_seconds * (total.all_count - 1) / total.all_count AS BIGINT) AS held_byte_seconds
  FROM total
  JOIN run ON run.run_host_id = total.total_host_id AND run.work_run_id = total.total_run_id
  JOIN hosts h ON h.id = total.total_host_id
 ORDER BY total.again_cpu_ns DESC, total.total_host_id, total.first_unix_ns, total.total_arguments;
