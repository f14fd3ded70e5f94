-- title: Which hosts are idle?
-- explanation: Hosts on which no work was active for some time, as of when they were last heard of. Active is: a
--   task or process of a run began or ended; a running process of one used more than a share of a core, or moved any
--   byte. The system's own runs, login sessions and the agent are left out, but a host whose processors, disks or
--   network were busy as a whole is not called idle either: something ran there that is not known as work.
-- finding: sweep
-- parameter: since_unix_ns time = 7d; only what was seen from then on
-- parameter: least_ns duration = 15m; minimum time without activity; source: our proposal, tested with labelled
--   histories (docs/sweep.md)
-- parameter: least_core_share share = 1%; share of a core above which a process is active; source: our proposal
--   (docs/sweep.md)
-- parameter: most_cores number = 0.2; cores in use above which the host as a whole is busy; source: our proposal
--   (docs/sweep.md)
-- parameter: most_io_bytes bytes = 64K; bytes a second of disks and network above which the host as a whole is busy;
--   source: our proposal (docs/sweep.md)
-- column: host_id id; the host
-- column: hostname text; host name
-- column: since_unix_ns time; when it began
-- column: until_unix_ns time; when it ended, or was last seen
-- column: is_now flag; whether it went on when the host was last heard of
-- column: certainty text; certain, or likely if something in that time was not seen
-- column: run_id id; the run it is tied to; unknown if none
-- column: run text; name of that run
-- column: idle_ns duration; time since the last activity
-- column: cpu_count count; processors
-- column: held_cpu_ns duration; time of its cores
-- column: held_byte_seconds byte_seconds; its memory times that time
-- subject: hostname
-- impact: cpu = held_cpu_ns, memory = held_byte_seconds
-- sentence: {hostname} has been idle for {idle_ns}: no work was active on its {cpu_count} processors
-- advice: Stop it or give it back, or let work begin there.
WITH period AS (
  SELECT host_id AS period_host_id, last_unix_ns AS period_unix_ns, covered_ns, cpu_ns AS busy_ns,
         coalesce(disk_bytes, 0) + coalesce(network_bytes, 0) AS io_bytes
    FROM host_activity
   WHERE begin_unix_ns >= :since_unix_ns
), work AS (
  SELECT host_id AS work_host_id, id AS work_run_id FROM standing_runs
   WHERE kind NOT IN ('system', 'session', 'host-service')
), task AS (
  SELECT t.host_id AS task_host_id, t.id AS open_task_id, t.started_unix_ns AS task_begin_unix_ns,
         t.started_unix_ns + t.wall_ns AS task_end_unix_ns
    FROM standing_tasks t
   WHERE (t.host_id, t.run_id) IN (SELECT work_host_id, work_run_id FROM work)
), process AS (
  SELECT p.host_id AS process_host_id, p.id AS active_process_id, p.started_unix_ns AS process_begin_unix_ns,
         p.started_unix_ns + (p.end_boot_ns - p.begin_boot_ns) AS process_end_unix_ns,
         p.begin_boot_ns AS process_boot_ns
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
), activity AS (
  SELECT id AS active_host_id, first_seen_unix_ns AS active_unix_ns FROM hosts
   UNION ALL
  SELECT id, :since_unix_ns FROM hosts
   UNION ALL
  SELECT id, boot_unix_ns FROM hosts
   UNION ALL
  SELECT task_host_id, coalesce(task_end_unix_ns, task_begin_unix_ns) FROM task
   UNION ALL
  SELECT process_host_id, coalesce(process_end_unix_ns, process_begin_unix_ns) FROM process
   UNION ALL
  SELECT s.sampled_host_id, p.process_begin_unix_ns + (s.sampled_boot_ns - p.process_boot_ns)
    FROM sampled s
    JOIN process p ON p.process_host_id = s.sampled_host_id AND p.active_process_id = s.sampled_process_id
   WHERE s.number > 1
     AND (s.moved_bytes > s.earlier_moved_bytes
          OR s.sampled_cpu_ns - s.earlier_cpu_ns > :least_core_share * (s.sampled_boot_ns - s.earlier_boot_ns))
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
  SELECT host_id AS latest_host_id, id AS latest_run_id, name AS latest_run,
         row_number() OVER (PARTITION BY host_id ORDER BY coalesce(started_unix_ns + wall_ns, started_unix_ns) DESC, id)
           AS place
    FROM standing_runs
   WHERE kind NOT IN ('system', 'session', 'host-service')
), found AS (
  SELECT h.id AS host_id, h.hostname AS hostname, idle.begin_unix_ns AS since_unix_ns,
         h.last_seen_unix_ns AS until_unix_ns, h.last_seen_unix_ns - idle.begin_unix_ns AS idle_ns,
         coalesce(covered.seen_ns, 0) AS seen_ns, latest.latest_run_id AS run_id, latest.latest_run AS run,
         h.cpu_count AS cpu_count, h.memory_bytes AS memory_bytes
    FROM hosts h
    JOIN idle ON idle.idle_host_id = h.id
    LEFT JOIN covered ON covered.covered_host_id = h.id
    LEFT JOIN latest ON latest.latest_host_id = h.id AND latest.place = 1
)
SELECT host_id, hostname, since_unix_ns, until_unix_ns, 1 AS is_now,
       CASE WHEN seen_ns >= 0.9 * (idle_ns - 900000000000) AND seen_ns > 0 THEN 'certain' ELSE 'likely' END
         AS certainty,
       run_id, run, idle_ns, cpu_count, cpu_count * idle_ns AS held_cpu_ns,
       CAST(1.0 * memory_bytes * idle_ns / 1000000000 AS BIGINT) AS held_byte_seconds
  FROM found
 WHERE idle_ns >= :least_ns
 ORDER BY held_cpu_ns DESC, host_id;
