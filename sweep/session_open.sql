-- title: Which interactive sessions were left open?
-- explanation: Interactive shells that are still there and from which nothing was started for some time, and that
--   used no CPU themselves. What they hold is their memory. Shells in which a command still runs are in use.
-- finding: sweep
-- parameter: since_unix_ns time = 7d; only what was seen from then on
-- parameter: least_ns duration = 8h; minimum time without use; source: jobstats; idle kernels of Jupyter
-- column: host_id id; the host
-- column: hostname text; host name
-- column: since_unix_ns time; when it began
-- column: until_unix_ns time; when it ended, or was last seen
-- column: is_now flag; whether it went on when the host was last heard of
-- column: certainty text; certain, or likely if something in that time was not seen
-- column: run_id id; the run it is tied to; unknown if none
-- column: run text; name of that run
-- column: user_id user; whose session
-- column: program text; the shell
-- column: pid number; its process id
-- column: unused_ns duration; time without use
-- column: memory_bytes bytes; memory it holds at most
-- column: held_byte_seconds byte_seconds; that memory times that time
-- subject: pid
-- impact: memory = held_byte_seconds
-- sentence: {program} (pid {pid}) of user {user_id} on {hostname} has been open without use for {unused_ns}
-- advice: Close it, or set a limit such as TMOUT.
WITH shell AS (
  SELECT host_id AS shell_host_id, id AS shell_id, user_id AS shell_user_id, program AS shell_program, pid AS shell_pid,
         peak_rss_bytes AS shell_bytes, started_unix_ns AS shell_unix_ns, begin_boot_ns AS shell_boot_ns,
         run_id AS shell_run_id
    FROM processes
   WHERE end_boot_ns IS NULL AND role = 'origin'
     AND program IN ('bash', 'zsh', 'fish', 'sh', 'dash', 'ksh', 'mksh', 'tcsh', 'csh', 'nu', 'pwsh')
), job AS (
  SELECT host_id AS job_host_id, origin_process_id AS job_origin_id, count(*) - count(end_boot_ns) AS running_count,
         max(coalesce(started_unix_ns + wall_ns, started_unix_ns)) AS job_unix_ns
    FROM standing_runs
   WHERE origin_process_id IS NOT NULL
   GROUP BY host_id, origin_process_id
), sampled AS (
  SELECT host_id AS sampled_host_id, process_id AS sampled_id, max(boot_ns) AS sampled_boot_ns
    FROM placed_samples
   WHERE (host_id, process_id) IN (SELECT shell_host_id, shell_id FROM shell)
   GROUP BY host_id, process_id
), used AS (
  SELECT shell_host_id AS used_host_id, shell_id AS used_id, shell_unix_ns AS used_unix_ns FROM shell
   UNION ALL
  SELECT job_host_id, job_origin_id, job_unix_ns FROM job
   UNION ALL
  SELECT shell.shell_host_id, shell.shell_id,
         shell.shell_unix_ns + (sampled.sampled_boot_ns - shell.shell_boot_ns)
    FROM shell
    JOIN sampled ON sampled.sampled_host_id = shell.shell_host_id AND sampled.sampled_id = shell.shell_id
), latest AS (
  SELECT used_host_id, used_id, max(used_unix_ns) AS latest_unix_ns FROM used GROUP BY used_host_id, used_id
)
SELECT h.id AS host_id, h.hostname AS hostname, latest.latest_unix_ns AS since_unix_ns,
       h.last_seen_unix_ns AS until_unix_ns, 1 AS is_now, 'certain' AS certainty, shell.shell_run_id AS run_id,
       NULL AS run, shell.shell_user_id AS user_id, shell.shell_program AS program, shell.shell_pid AS pid,
       h.last_seen_unix_ns - latest.latest_unix_ns AS unused_ns, shell.shell_bytes AS memory_bytes,
       CAST(1.0 * shell.shell_bytes * (h.last_seen_unix_ns - latest.latest_unix_ns) / 1000000000 AS BIGINT)
         AS held_byte_seconds
  FROM shell
  JOIN hosts h ON h.id = shell.shell_host_id
  JOIN latest ON latest.used_host_id = shell.shell_host_id AND latest.used_id = shell.shell_id
  LEFT JOIN job ON job.job_host_id = shell.shell_host_id AND job.job_origin_id = shell.shell_id
 WHERE coalesce(job.running_count, 0) = 0 AND h.last_seen_unix_ns >= :since_unix_ns
   AND h.last_seen_unix_ns - latest.latest_unix_ns >= :least_ns
 ORDER BY unused_ns DESC, shell.shell_id;
