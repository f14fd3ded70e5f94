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
-- column: certainty text; certain, or likely if something in that time was not seen, or a service may be needed
-- column: user_id user; whose run
-- column: idle_ns duration; time since the last activity
-- column: service_count count; services that were open and waited
-- column: cpu_count count; processors
-- column: held_cpu_ns duration; time of its cores
-- column: held_byte_seconds byte_seconds; its memory times that time
-- subject: hostname
-- impact: cpu = held_cpu_ns, memory = held_byte_seconds
-- sentence: {hostname} has been idle for {idle_ns}: no work was active on its {cpu_count} processor(s)
-- advice: Stop it or give it back, unless one of its services is needed.
WITH work AS MATERIALIZED (
  SELECT host_id AS work_host_id, id AS work_run_id, started_unix_ns AS work_unix_ns, end_unix_ns AS work_end_unix_ns,
         is_service AS work_is_service, process_count - living_count AS work_ended_count
    FROM work_runs
), known AS MATERIALIZED ( -- the latest activity that needs no processes and samples
  SELECT known_host_id, max(at_unix_ns) AS known_unix_ns
    FROM (SELECT id AS known_host_id, first_seen_unix_ns AS at_unix_ns FROM hosts
           UNION ALL SELECT id, :since_unix_ns FROM hosts
           UNION ALL SELECT id, boot_unix_ns FROM hosts
           UNION ALL SELECT work_host_id, coalesce(work_end_unix_ns, work_unix_ns) FROM work) each
   GROUP BY known_host_id
), process AS ( -- of open runs: a run that has ended did so when its last process had
  SELECT p.host_id AS process_host_id, p.id AS active_process_id, p.started_unix_ns AS process_begin_unix_ns,
         p.started_unix_ns + (p.end_boot_ns - p.begin_boot_ns) AS process_end_unix_ns,
         p.begin_boot_ns AS process_boot_ns, p.run_id AS process_run_id, p.cpu_ns AS process_cpu_ns,
         coalesce(p.read_bytes, 0) + coalesce(p.write_bytes, 0) + coalesce(p.sent_bytes, 0)
           + coalesce(p.received_bytes, 0) AS process_bytes
    FROM open_processes p
   WHERE (p.host_id, p.run_id) IN (SELECT work_host_id, work_run_id FROM work WHERE work_end_unix_ns IS NULL)
   UNION ALL -- a lake reads all processes for this, so runs of which none has ended are not asked for
  SELECT p.host_id, p.id, p.started_unix_ns, p.started_unix_ns + (p.end_boot_ns - p.begin_boot_ns), p.begin_boot_ns, p.run_id,
         p.cpu_ns, coalesce(p.read_bytes, 0) + coalesce(p.write_bytes, 0) + coalesce(p.sent_bytes, 0)
                     + coalesce(p.received_bytes, 0)
    FROM processes p
   WHERE (p.host_id, p.run_id) IN (SELECT work_host_id, work_run_id FROM work
                                    WHERE work_end_unix_ns IS NULL AND work_ended_count > 0)
     AND p.started_unix_ns + (p.end_boot_ns - p.begin_boot_ns) >= (SELECT min(known_unix_ns) FROM known) - 300000000000
), sampled AS (
  SELECT s.host_id AS sampled_host_id, s.process_id AS sampled_process_id, s.boot_ns AS sampled_boot_ns,
         s.cpu_ns AS sampled_cpu_ns,
         coalesce(s.read_bytes, 0) + coalesce(s.write_bytes, 0) + coalesce(s.sent_bytes, 0)
           + coalesce(s.received_bytes, 0) AS sampled_bytes
    FROM placed_samples s
   WHERE s.unix_ns >= (SELECT min(known_unix_ns) FROM known) - 3600000000000
     AND (s.host_id, s.process_id) IN (SELECT host_id, id FROM open_processes)
), event AS ( -- a process, with each of its samples that may tell more than is known; quiet ones come each five minutes
  SELECT p.process_host_id AS event_host_id, p.process_run_id AS event_run_id, p.active_process_id AS event_process_id,
         p.process_begin_unix_ns AS begin_unix_ns, p.process_end_unix_ns AS end_unix_ns, p.process_cpu_ns AS all_cpu_ns,
         p.process_bytes AS all_bytes, s.sampled_boot_ns AS event_boot_ns, s.sampled_cpu_ns AS event_cpu_ns,
         s.sampled_bytes AS event_bytes,
         p.process_begin_unix_ns + (s.sampled_boot_ns - p.process_boot_ns) AS event_unix_ns
    FROM process p
    JOIN known ON known.known_host_id = p.process_host_id
    LEFT JOIN sampled s ON s.sampled_host_id = p.process_host_id AND s.sampled_process_id = p.active_process_id
   WHERE s.sampled_boot_ns IS NULL
      OR p.process_begin_unix_ns + (s.sampled_boot_ns - p.process_boot_ns) >= known.known_unix_ns - 3600000000000
), paired AS (
  SELECT event_host_id, event_run_id, begin_unix_ns, end_unix_ns, all_cpu_ns, all_bytes, event_unix_ns, event_boot_ns,
         event_cpu_ns, event_bytes,
         min(event_boot_ns) OVER (PARTITION BY event_host_id, event_process_id ORDER BY event_boot_ns
                                  ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING) AS earlier_boot_ns,
         min(event_cpu_ns) OVER (PARTITION BY event_host_id, event_process_id ORDER BY event_boot_ns
                                 ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING) AS earlier_cpu_ns,
         min(event_bytes) OVER (PARTITION BY event_host_id, event_process_id ORDER BY event_boot_ns
                                ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING) AS earlier_bytes
    FROM event
), step AS ( -- a beginning or an end is activity of work; what was used tells whether a service was active
  SELECT event_host_id AS step_host_id, event_run_id AS step_run_id,
         coalesce(end_unix_ns, begin_unix_ns) AS change_unix_ns,
         coalesce(end_unix_ns, event_unix_ns) AS step_unix_ns,
         CASE WHEN end_unix_ns IS NULL THEN event_boot_ns - earlier_boot_ns ELSE end_unix_ns - begin_unix_ns END AS step_ns,
         CASE WHEN end_unix_ns IS NULL THEN event_cpu_ns - earlier_cpu_ns ELSE all_cpu_ns END AS step_cpu_ns,
         CASE WHEN end_unix_ns IS NULL THEN event_bytes - earlier_bytes ELSE all_bytes END AS step_bytes
    FROM paired
), period_of AS (
  SELECT step_host_id, step_run_id, max(change_unix_ns) AS last_change_unix_ns, max(step_unix_ns) AS last_step_unix_ns,
         max(CASE WHEN step_bytes > 0 OR step_cpu_ns > :least_core_share * step_ns THEN step_unix_ns END)
           AS last_active_unix_ns,
         sum(CASE WHEN step_ns > 300000000000 THEN 1.0 * 300000000000 / step_ns ELSE 1.0 END * step_cpu_ns) AS used_cpu_ns,
         sum(CASE WHEN step_ns > 300000000000 THEN 1.0 * 300000000000 / step_ns ELSE 1.0 END * step_bytes) AS used_bytes
    FROM step
   GROUP BY step_host_id, step_run_id, step_unix_ns - step_unix_ns % 300000000000
), activity AS (
  SELECT known_host_id AS active_host_id, known_unix_ns AS active_unix_ns FROM known
   UNION ALL
  SELECT period_of.step_host_id,
         CASE WHEN work.work_is_service = 1 AND (period_of.used_cpu_ns > :most_service_cores * 300000000000
                                                 OR period_of.used_bytes > :most_service_bytes * 300)
              THEN period_of.last_step_unix_ns
              WHEN work.work_is_service = 1 THEN work.work_unix_ns
              WHEN period_of.last_active_unix_ns > period_of.last_change_unix_ns THEN period_of.last_active_unix_ns
              ELSE period_of.last_change_unix_ns END
    FROM period_of
    JOIN work ON work.work_host_id = period_of.step_host_id AND work.work_run_id = period_of.step_run_id
   UNION ALL
  SELECT host_id, last_unix_ns
    FROM host_activity
   WHERE begin_unix_ns >= :since_unix_ns AND begin_unix_ns >= (SELECT min(known_unix_ns) FROM known) - 300000000000
     AND (cpu_ns > :most_cores * covered_ns
          OR 1.0 * (coalesce(disk_bytes, 0) + coalesce(network_bytes, 0)) * 1000000000 > 1.0 * :most_io_bytes * covered_ns)
), idle AS (
  SELECT active_host_id AS idle_host_id, max(active_unix_ns) AS begin_unix_ns FROM activity GROUP BY active_host_id
), covered AS (
  SELECT idle.idle_host_id AS covered_host_id, min(idle.begin_unix_ns) AS idle_unix_ns,
         sum(CASE WHEN period.period_unix_ns > idle.begin_unix_ns THEN period.period_covered_ns ELSE 0 END) AS seen_ns
    FROM (SELECT host_id AS period_host_id, last_unix_ns AS period_unix_ns, covered_ns AS period_covered_ns
            FROM host_activity
           WHERE begin_unix_ns >= :since_unix_ns
             AND begin_unix_ns >= (SELECT min(known_unix_ns) FROM known) - 300000000000
           UNION ALL SELECT id, 0, 0 FROM hosts) period
    JOIN idle ON idle.idle_host_id = period.period_host_id
   GROUP BY idle.idle_host_id
), latest AS (
  SELECT host_id AS latest_host_id, id AS latest_run_id, name AS latest_run, user_id AS latest_user_id,
         row_number() OVER (PARTITION BY host_id ORDER BY coalesce(end_unix_ns, started_unix_ns) DESC, id) AS place
    FROM work_runs
), service AS (
  SELECT work_host_id AS service_host_id, count(*) AS open_count
    FROM work
   WHERE work_is_service = 1 AND work_end_unix_ns IS NULL
   GROUP BY work_host_id
), found AS (
  SELECT h.id AS host_id, h.hostname AS hostname, covered.idle_unix_ns AS since_unix_ns,
         h.last_seen_unix_ns AS until_unix_ns, h.last_seen_unix_ns - covered.idle_unix_ns AS idle_ns,
         covered.seen_ns AS seen_ns, latest.latest_run_id AS run_id, latest.latest_run AS run,
         latest.latest_user_id AS user_id,
         coalesce(service.open_count, 0) AS service_count, h.cpu_count AS cpu_count, h.memory_bytes AS memory_bytes
    FROM hosts h
    JOIN covered ON covered.covered_host_id = h.id
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
