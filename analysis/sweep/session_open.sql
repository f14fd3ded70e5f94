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
WITH kernel AS MATERIALIZED (
  SELECT host_id AS kernel_host_id, id AS kernel_run_id, root_process_id AS kernel_process_id, name AS kernel_name,
         peak_memory_bytes AS kernel_bytes,
         CASE WHEN run_key IS NOT NULL THEN memory_limit_bytes END AS kernel_limit_bytes
    FROM standing_runs
   WHERE end_boot_ns IS NULL
     AND (name = 'rstudio session' OR substr(name, 1, 13) = 'python kernel' OR substr(name, 1, 8) = 'R kernel'
          OR substr(name, 1, 12) = 'julia kernel')
), opened AS MATERIALIZED (
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
), sample AS (
  SELECT host_id AS sample_host_id, process_id AS sample_id, boot_ns AS sample_boot_ns, cpu_ns AS sample_cpu_ns,
         min(boot_ns) OVER (PARTITION BY host_id, process_id ORDER BY boot_ns
                            ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING) AS earlier_boot_ns,
         min(cpu_ns) OVER (PARTITION BY host_id, process_id ORDER BY boot_ns
                           ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING) AS earlier_cpu_ns
    FROM placed_samples
   WHERE (host_id, process_id) IN (SELECT opened_host_id, opened_id FROM opened)
), sampled AS (
  SELECT sample_host_id AS sampled_host_id, sample_id AS sampled_id, max(sample_boot_ns) AS last_boot_ns,
         max(CASE WHEN sample_cpu_ns - earlier_cpu_ns > :least_core_share * (sample_boot_ns - earlier_boot_ns)
                  THEN sample_boot_ns END) AS active_boot_ns
    FROM sample
   GROUP BY sample_host_id, sample_id
), work AS ( -- runs that began below a session, and processes of a kernel's run
  SELECT work_host_id, work_origin_id, sum(is_running) AS running_count, max(at_unix_ns) AS work_unix_ns,
         max(limit_bytes) AS work_limit_bytes
    FROM (SELECT host_id AS work_host_id, origin_process_id AS work_origin_id,
                 CASE WHEN end_boot_ns IS NULL THEN 1 ELSE 0 END AS is_running,
                 coalesce(started_unix_ns + wall_ns, started_unix_ns) AS at_unix_ns,
                 CASE WHEN run_key IS NOT NULL THEN memory_limit_bytes END AS limit_bytes
            FROM standing_runs
           WHERE origin_process_id IS NOT NULL
           UNION ALL
          SELECT p.host_id, kernel.kernel_process_id, 0, p.started_unix_ns + coalesce(p.end_boot_ns - p.begin_boot_ns, 0), NULL
            FROM processes p JOIN kernel ON kernel.kernel_host_id = p.host_id AND kernel.kernel_run_id = p.run_id
           WHERE (p.host_id, p.run_id) IN (SELECT kernel_host_id, kernel_run_id FROM kernel)) each
   GROUP BY work_host_id, work_origin_id
), session AS (
  SELECT opened.opened_host_id AS session_host_id, opened.opened_id AS session_id, opened.opened_user_id AS session_user_id,
         opened.opened_pid AS session_pid, opened.opened_run_id AS session_run_id,
         coalesce(kernel.kernel_name, server.server_name, opened.opened_program) AS session_program,
         coalesce(kernel.kernel_limit_bytes, work.work_limit_bytes, kernel.kernel_bytes, opened.opened_bytes)
           AS session_bytes,
         opened.opened_unix_ns
           + coalesce(CASE WHEN kernel.kernel_name IS NULL AND server.server_name IS NULL THEN sampled.last_boot_ns
                           ELSE sampled.active_boot_ns END - opened.opened_boot_ns, 0) AS used_unix_ns,
         work.work_unix_ns AS work_unix_ns
    FROM opened
    LEFT JOIN kernel ON kernel.kernel_host_id = opened.opened_host_id AND kernel.kernel_process_id = opened.opened_id
    LEFT JOIN server ON server.server_host_id = opened.opened_host_id AND server.server_tool_id = opened.opened_tool_id
    LEFT JOIN sampled ON sampled.sampled_host_id = opened.opened_host_id AND sampled.sampled_id = opened.opened_id
    LEFT JOIN work ON work.work_host_id = opened.opened_host_id AND work.work_origin_id = opened.opened_id
   WHERE coalesce(server.server_name, '') <> 'jupyterhub' -- it always serves all users
     AND coalesce(work.running_count, 0) = 0
), found AS (
  SELECT h.id AS found_host_id, h.hostname AS found_hostname, h.last_seen_unix_ns AS found_until_unix_ns,
         CASE WHEN session.work_unix_ns > session.used_unix_ns THEN session.work_unix_ns ELSE session.used_unix_ns END
           AS found_unix_ns,
         session.session_id AS found_id, session.session_run_id AS found_run_id, session.session_user_id AS found_user_id,
         session.session_program AS found_program, session.session_pid AS found_pid, session.session_bytes AS found_bytes
    FROM session JOIN hosts h ON h.id = session.session_host_id
)
SELECT found_host_id AS host_id, found_hostname AS hostname, found_unix_ns AS since_unix_ns,
       found_until_unix_ns AS until_unix_ns, 1 AS is_now, 'certain' AS certainty, found_run_id AS run_id, NULL AS run,
       found_user_id AS user_id, found_program AS program, found_pid AS pid,
       found_until_unix_ns - found_unix_ns AS unused_ns, found_bytes AS memory_bytes,
       CAST(1.0 * found_bytes * (found_until_unix_ns - found_unix_ns) / 1000000000 AS BIGINT) AS held_byte_seconds
  FROM found
 WHERE found_until_unix_ns >= :since_unix_ns AND found_until_unix_ns - found_unix_ns >= :least_ns
 ORDER BY found_until_unix_ns - found_unix_ns DESC, found_id;
