-- title: Which hosts are idle?
-- explanation: Hosts on which no work was active for some time, as of when they were last heard of. Active is: a
--   task or process of a run began or ended; a running process of one used more than a share of a core, or moved any
--   byte; a service that is open used or moved more in five minutes than a waiting one does. The system's own runs,
--   login sessions and known agents are left out, but a host whose processors, disks or network were busy as a whole is
--   not called idle either: something ran there that is not known as work.
-- finding: sweep
-- parameter: since_unix_ns time = 7d; only what was seen from then on
-- parameter: least_ns duration = 15m; minimum time without activity; source: our proposal, tested with labelled
--   histories (docs/sweep.md)
-- parameter: least_core_share share = 1%; share of a core above which a process is active; source: our proposal
--   (docs/sweep.md)
-- parameter: most_service_cores number = 0.03; cores in use, over five minutes, up to which a service waits; source: our
--   proposal: what Google Cloud's idle VM recommendations say of a whole machine
-- parameter: most_service_bytes bytes = 2000; bytes a second, disk and network, up to which a service waits; source: our
--   proposal: what Google Cloud's idle VM recommendations say of a whole machine
-- parameter: most_cores number = 0.2; cores in use above which the host as a whole is busy; source: our proposal
--   (docs/sweep.md)
-- parameter: most_io_bytes bytes = 64K; bytes a second of disks and network above which the host as a whole is busy;
--   source: our proposal (docs/sweep.md)
-- column: certainty text; certain, or likely if something in that time was not seen, or somebody may need a service
-- column: user_id user; whose run
-- column: idle_ns duration; time since the last activity
-- column: service_count count; services that were open and waited
-- column: cpu_count count; processors
-- column: held_cpu_ns duration; time of its cores
-- column: held_byte_seconds byte_seconds; its memory times that time
-- subject: hostname
-- impact: cpu = held_cpu_ns, memory = held_byte_seconds
-- sentence: {hostname} has been idle for {idle_ns}: no work was active on its {cpu_count} processors
-- advice: Stop it or give it back, unless somebody needs a service of it.
WITH period AS (
  SELECT host_id AS period_host_id, last_unix_ns AS period_unix_ns, covered_ns, cpu_ns AS busy_ns,
         coalesce(disk_bytes, 0) + coalesce(network_bytes, 0) AS io_bytes
    FROM host_activity
   WHERE begin_unix_ns >= :since_unix_ns
), work AS (
  SELECT host_id AS work_host_id, id AS work_run_id, started_unix_ns AS work_unix_ns,
         CASE WHEN kind = 'service' AND engine IS NULL AND end_boot_ns IS NULL THEN 1 ELSE 0 END AS is_open_service
    FROM standing_runs
   WHERE kind NOT IN ('system', 'session', 'host-service')
), task AS (
  SELECT t.host_id AS task_host_id, t.id AS open_task_id, t.started_unix_ns AS task_begin_unix_ns,
         t.started_unix_ns + t.wall_ns AS task_end_unix_ns, t.run_id AS task_run_id,
         CASE WHEN (t.host_id, t.run_id) IN (SELECT work_host_id, work_run_id FROM work WHERE is_open_service = 1) THEN 1
              ELSE 0 END AS is_service, t.cpu_ns AS task_cpu_ns,
         coalesce(t.read_bytes, 0) + coalesce(t.write_bytes, 0) + coalesce(t.sent_bytes, 0)
           + coalesce(t.received_bytes, 0) AS task_bytes
    FROM standing_tasks t
   WHERE (t.host_id, t.run_id) IN (SELECT work_host_id, work_run_id FROM work)
), process AS (
  SELECT p.host_id AS process_host_id, p.id AS active_process_id, p.started_unix_ns AS process_begin_unix_ns,
         p.started_unix_ns + (p.end_boot_ns - p.begin_boot_ns) AS process_end_unix_ns,
         p.begin_boot_ns AS process_boot_ns, p.run_id AS process_run_id,
         CASE WHEN (p.host_id, p.run_id) IN (SELECT work_host_id, work_run_id FROM work WHERE is_open_service = 1) THEN 1
              ELSE 0 END AS is_service, p.cpu_ns AS process_cpu_ns,
         coalesce(p.read_bytes, 0) + coalesce(p.write_bytes, 0) + coalesce(p.sent_bytes, 0)
           + coalesce(p.received_bytes, 0) AS process_bytes
    FROM processes p
   WHERE (p.host_id, p.task_id) IN (SELECT task_host_id, open_task_id FROM task WHERE task_end_unix_ns IS NULL)
), sampled AS (
  SELECT s.host_id AS sampled_host_id, s.process_id AS sampled_process_id, s.boot_ns AS sampled_boot_ns,
         s.cpu_ns AS sampled_cpu_ns,
         coalesce(s.read_bytes, 0) + coalesce(s.write_bytes, 0) + coalesce(s.sent_bytes, 0)
           + coalesce(s.received_bytes, 0) AS moved_bytes,
         count(s.cpu_ns) OVER (PARTITION BY s.host_id, s.process_id ORDER BY s.boot_ns
                         ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS number,
         min(s.boot_ns) OVER (PARTITION BY s.host_id, s.process_id ORDER BY s.boot_ns
                              ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING) AS earlier_boot_ns,
         min(s.cpu_ns) OVER (PARTITION BY s.host_id, s.process_id ORDER BY s.boot_ns
                             ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING) AS earlier_cpu_ns,
         min(coalesce(s.read_bytes, 0) + coalesce(s.write_bytes, 0) + coalesce(s.sent_bytes, 0)
               + coalesce(s.received_bytes, 0))
           OVER (PARTITION BY s.host_id, s.process_id ORDER BY s.boot_ns
                 ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING) AS earlier_moved_bytes
    FROM placed_samples s
   WHERE (s.host_id, s.process_id) IN (SELECT process_host_id, active_process_id FROM process
                                        WHERE process_end_unix_ns IS NULL)
), step AS (
  SELECT p.process_host_id AS step_host_id, p.process_run_id AS step_run_id, p.is_service AS is_service,
         p.process_begin_unix_ns + (s.sampled_boot_ns - p.process_boot_ns) AS step_unix_ns,
         s.sampled_boot_ns - s.earlier_boot_ns AS step_ns, s.sampled_cpu_ns - s.earlier_cpu_ns AS step_cpu_ns,
         s.moved_bytes - s.earlier_moved_bytes AS step_bytes
    FROM sampled s
    JOIN process p ON p.process_host_id = s.sampled_host_id AND p.active_process_id = s.sampled_process_id
   WHERE s.number > 1
   UNION ALL
  SELECT process_host_id, process_run_id, is_service, process_end_unix_ns, process_end_unix_ns - process_begin_unix_ns,
         process_cpu_ns, process_bytes
    FROM process WHERE is_service = 1 AND process_end_unix_ns IS NOT NULL
   UNION ALL
  SELECT task_host_id, task_run_id, is_service, task_end_unix_ns, task_end_unix_ns - task_begin_unix_ns, task_cpu_ns,
         task_bytes
    FROM task WHERE is_service = 1 AND task_end_unix_ns IS NOT NULL
), spread AS (
  SELECT step_host_id, step_run_id, step_unix_ns,
         CASE WHEN step_ns > 300000000000 THEN 1.0 * 300000000000 / step_ns ELSE 1.0 END AS part, step_cpu_ns, step_bytes
    FROM step WHERE is_service = 1
), activity AS (
  SELECT id AS active_host_id, first_seen_unix_ns AS active_unix_ns FROM hosts
   UNION ALL
  SELECT id, :since_unix_ns FROM hosts
   UNION ALL
  SELECT id, boot_unix_ns FROM hosts
   UNION ALL
  SELECT task_host_id, coalesce(task_end_unix_ns, task_begin_unix_ns) FROM task WHERE is_service = 0
   UNION ALL
  SELECT process_host_id, coalesce(process_end_unix_ns, process_begin_unix_ns) FROM process WHERE is_service = 0
   UNION ALL
  SELECT step_host_id, step_unix_ns FROM step
   WHERE is_service = 0 AND (step_bytes > 0 OR step_cpu_ns > :least_core_share * step_ns)
   UNION ALL
  SELECT work_host_id, work_unix_ns FROM work WHERE is_open_service = 1
   UNION ALL
  SELECT step_host_id, max(step_unix_ns) FROM spread
   GROUP BY step_host_id, step_run_id, step_unix_ns - step_unix_ns % 300000000000
  HAVING sum(part * step_cpu_ns) > :most_service_cores * 300000000000 OR sum(part * step_bytes) > :most_service_bytes * 300
   UNION ALL
  SELECT period_host_id, period_unix_ns FROM period
   WHERE busy_ns > :most_cores * covered_ns OR 1.0 * io_bytes * 1000000000 > 1.0 * :most_io_bytes * covered_ns
), idle AS (
  SELECT active_host_id AS idle_host_id, max(active_unix_ns) AS begin_unix_ns FROM activity GROUP BY active_host_id
), covered AS (
  SELECT idle.idle_host_id AS covered_host_id, sum(period.covered_ns) AS seen_ns
    FROM period JOIN idle ON idle.idle_host_id = period.period_host_id
   WHERE period.period_unix_ns > idle.begin_unix_ns
   GROUP BY idle.idle_host_id
), latest AS (
  SELECT host_id AS latest_host_id, id AS latest_run_id, name AS latest_run, user_id AS latest_user_id,
         row_number() OVER (PARTITION BY host_id ORDER BY coalesce(started_unix_ns + wall_ns, started_unix_ns) DESC, id)
           AS place
    FROM standing_runs
   WHERE kind NOT IN ('system', 'session', 'host-service')
), service AS (
  SELECT work_host_id AS service_host_id, sum(is_open_service) AS open_count FROM work GROUP BY work_host_id
), found AS (
  SELECT h.id AS host_id, h.hostname AS hostname, idle.begin_unix_ns AS since_unix_ns,
         h.last_seen_unix_ns AS until_unix_ns, h.last_seen_unix_ns - idle.begin_unix_ns AS idle_ns,
         coalesce(covered.seen_ns, 0) AS seen_ns, latest.latest_run_id AS run_id, latest.latest_run AS run,
         latest.latest_user_id AS user_id,
         coalesce(service.open_count, 0) AS service_count, h.cpu_count AS cpu_count, h.memory_bytes AS memory_bytes
    FROM hosts h
    JOIN idle ON idle.idle_host_id = h.id
    LEFT JOIN covered ON covered.covered_host_id = h.id
    LEFT JOIN service ON service.service_host_id = h.id
    LEFT JOIN latest ON latest.latest_host_id = h.id AND latest.place = 1
)
SELECT host_id, hostname, since_unix_ns, until_unix_ns, 1 AS is_now,
       CASE WHEN seen_ns >= 0.9 * (idle_ns - 900000000000) AND seen_ns > 0 AND service_count = 0 THEN 'certain'
            ELSE 'likely' END AS certainty,
       run_id, run, user_id, idle_ns, service_count, cpu_count, cpu_count * idle_ns AS held_cpu_ns,
       CAST(1.0 * memory_bytes * idle_ns / 1000000000 AS BIGINT) AS held_byte_seconds
  FROM found
 WHERE idle_ns >= :least_ns
 ORDER BY held_cpu_ns DESC, host_id;
