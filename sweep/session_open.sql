-- title: Which interactive sessions were left open?
-- explanation: Interactive shells, Jupyter servers, kernels of notebooks and RStudio sessions that are still there, from
--   which nothing was started for some time, and that used no CPU themselves (a server, kernel or RStudio: no more than
--   a share of a core). What they hold is the memory limit of their batch job, if they are in one that has a limit, else
--   their memory. One in which a command or kernel still runs is in use.
-- finding: sweep
-- parameter: since_unix_ns time = 7d; only what was seen from then on
-- parameter: least_ns duration = 8h; minimum time without use; source: our
--   proposal (docs/sweep.md)
-- parameter: least_core_share share = 1%; share of a core above which a server or kernel is in use; source: our
--   proposal, as for host_idle
-- column: user_id user; whose session
-- column: program text; the shell, server or kernel
-- column: pid number; its process id
-- column: unused_ns duration; time without use
-- column: memory_bytes bytes; memory it holds: of its batch job, or its own at most
-- column: held_byte_seconds byte_seconds; that memory times that time
-- subject: pid
-- impact: memory = held_byte_seconds
-- sentence: {program} (pid {pid}) of user {user_id} on {hostname} has been open without use for {unused_ns}, and holds
--   {memory_bytes}
-- advice: Ask its user to close it.
WITH kernel AS (
  SELECT host_id AS kernel_host_id, id AS kernel_run_id, root_process_id AS kernel_process_id, name AS kernel_name,
         coalesce(concurrent_memory_bytes, peak_rss_bytes) AS kernel_bytes,
         CASE WHEN run_key IS NOT NULL THEN memory_limit_bytes END AS kernel_limit_bytes
    FROM runs
   WHERE process_count > 0 AND end_boot_ns IS NULL
     AND (name = 'rstudio session' OR substr(name, 1, 13) = 'python kernel' OR substr(name, 1, 8) = 'R kernel'
          OR substr(name, 1, 12) = 'julia kernel')
), opened AS (
  SELECT host_id AS opened_host_id, id AS opened_id, user_id AS opened_user_id, pid AS opened_pid,
         program AS opened_program, tool_id AS opened_tool_id,
         CASE WHEN rule IN ('notebook-server', 'notebook-server-command') THEN 1 ELSE 0 END AS is_server,
         peak_rss_bytes AS opened_bytes, started_unix_ns AS opened_unix_ns, begin_boot_ns AS opened_boot_ns,
         run_id AS opened_run_id
    FROM open_processes
   WHERE (role = 'origin' AND program IN ('bash', 'zsh', 'fish', 'sh', 'dash', 'ksh', 'mksh', 'tcsh', 'csh', 'nu', 'pwsh'))
      OR (role = 'origin' AND rule IN ('notebook-server', 'notebook-server-command'))
      OR (host_id, id) IN (SELECT kernel_host_id, kernel_process_id FROM kernel)
), server AS (
  SELECT host_id AS server_host_id, id AS server_tool_id, name AS server_name
    FROM standing_tools
   WHERE (host_id, id) IN (SELECT opened_host_id, opened_tool_id FROM opened WHERE is_server = 1)
), session AS (
  SELECT opened_host_id AS session_host_id, opened_id AS session_id, opened_user_id AS session_user_id,
         opened_pid AS session_pid, coalesce(kernel_name, server_name, opened_program) AS session_program,
         coalesce(kernel_bytes, opened_bytes) AS session_bytes, kernel_limit_bytes AS session_limit_bytes,
         opened_unix_ns AS session_unix_ns, opened_boot_ns AS session_boot_ns, opened_run_id AS session_run_id,
         CASE WHEN kernel_name IS NULL AND server_name IS NULL THEN 1 ELSE 0 END AS is_shell
    FROM opened
    LEFT JOIN kernel ON kernel.kernel_host_id = opened.opened_host_id AND kernel.kernel_process_id = opened.opened_id
    LEFT JOIN server ON server.server_host_id = opened.opened_host_id AND server.server_tool_id = opened.opened_tool_id
   WHERE coalesce(server_name, '') <> 'jupyterhub' -- it serves all users for good
), job AS (
  SELECT host_id AS job_host_id, origin_process_id AS job_origin_id, count(*) - count(end_boot_ns) AS running_count,
         max(coalesce(started_unix_ns + wall_ns, started_unix_ns)) AS job_unix_ns,
         max(CASE WHEN run_key IS NOT NULL THEN memory_limit_bytes END) AS job_limit_bytes
    FROM standing_runs
   WHERE origin_process_id IS NOT NULL
   GROUP BY host_id, origin_process_id
), sample AS (
  SELECT host_id AS sample_host_id, process_id AS sample_id, boot_ns AS sample_boot_ns, cpu_ns AS sample_cpu_ns,
         min(boot_ns) OVER (PARTITION BY host_id, process_id ORDER BY boot_ns
                            ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING) AS earlier_boot_ns,
         min(cpu_ns) OVER (PARTITION BY host_id, process_id ORDER BY boot_ns
                           ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING) AS earlier_cpu_ns
    FROM placed_samples
   WHERE (host_id, process_id) IN (SELECT opened_host_id, opened_id FROM opened)
), used AS (
  SELECT session.session_host_id AS used_host_id, session.session_id AS used_id,
         CASE WHEN session.is_shell = 1 OR sample.sample_cpu_ns - sample.earlier_cpu_ns
                   > :least_core_share * (sample.sample_boot_ns - sample.earlier_boot_ns)
              THEN session.session_unix_ns + coalesce(sample.sample_boot_ns - session.session_boot_ns, 0)
              ELSE session.session_unix_ns END AS used_unix_ns
    FROM session
    LEFT JOIN sample ON sample.sample_host_id = session.session_host_id AND sample.sample_id = session.session_id
   UNION ALL
  SELECT job_host_id, job_origin_id, job_unix_ns FROM job
   UNION ALL
  SELECT p.host_id, kernel.kernel_process_id,
         p.started_unix_ns + coalesce(p.end_boot_ns - p.begin_boot_ns, 0)
    FROM processes p JOIN kernel ON kernel.kernel_host_id = p.host_id AND kernel.kernel_run_id = p.run_id
   WHERE (p.host_id, p.run_id) IN (SELECT kernel_host_id, kernel_run_id FROM kernel)
), latest AS (
  SELECT used_host_id, used_id, max(used_unix_ns) AS latest_unix_ns FROM used GROUP BY used_host_id, used_id
), found AS (
  SELECT h.id AS found_host_id, h.hostname AS found_hostname, h.last_seen_unix_ns AS found_until_unix_ns,
         latest.latest_unix_ns AS found_unix_ns, session.session_id AS found_id,
         session.session_run_id AS found_run_id, session.session_user_id AS found_user_id,
         session.session_program AS found_program, session.session_pid AS found_pid,
         coalesce(session.session_limit_bytes, job.job_limit_bytes, session.session_bytes) AS found_bytes
    FROM session
    JOIN hosts h ON h.id = session.session_host_id
    JOIN latest ON latest.used_host_id = session.session_host_id AND latest.used_id = session.session_id
    LEFT JOIN job ON job.job_host_id = session.session_host_id AND job.job_origin_id = session.session_id
   WHERE coalesce(job.running_count, 0) = 0
)
SELECT found_host_id AS host_id, found_hostname AS hostname, found_unix_ns AS since_unix_ns,
       found_until_unix_ns AS until_unix_ns, 1 AS is_now, 'certain' AS certainty, found_run_id AS run_id, NULL AS run,
       found_user_id AS user_id, found_program AS program, found_pid AS pid,
       found_until_unix_ns - found_unix_ns AS unused_ns, found_bytes AS memory_bytes,
       CAST(1.0 * found_bytes * (found_until_unix_ns - found_unix_ns) / 1000000000 AS BIGINT) AS held_byte_seconds
  FROM found
 WHERE found_until_unix_ns >= :since_unix_ns AND found_until_unix_ns - found_unix_ns >= :least_ns
 ORDER BY found_until_unix_ns - found_unix_ns DESC, found_id;
