-- Hosts that are idle in the execution sense: for 15 minutes before they were last heard of
-- no process but the system's and Tracer's own used more than 1 % of a processor, or any
-- storage or network.
--
-- What a process used is known at points: 0 when it began, its samples, its totals. A step
-- from one point to the next counts where it ends: one that began before the 15 minutes
-- counts in full, so a host is called idle only where that is certain.
WITH recent AS (
  SELECT h.id AS host_id, h.hostname, h.last_seen_unix_ns AS until_ns,
         h.last_seen_unix_ns - 900000000000 AS since_ns
    FROM hosts h
), alive AS (
  SELECT p.host_id, p.id AS process_id, p.started_unix_ns AS began_ns,
         p.started_unix_ns - p.begin_boot_ns AS boot_unix_ns,
         coalesce(p.started_unix_ns + p.end_boot_ns - p.begin_boot_ns, r.until_ns) AS ended_ns,
         p.cpu_ns, p.read_bytes, p.write_bytes, p.sent_bytes, p.received_bytes
    FROM processes p JOIN recent r ON r.host_id = p.host_id
   WHERE (p.end_boot_ns IS NULL
          OR p.started_unix_ns + p.end_boot_ns - p.begin_boot_ns > r.since_ns)
     AND p.program NOT IN ('tracer-probe', 'tracer-correlator', 'tracer-shipper')
     AND p.run_id NOT IN (SELECT id FROM runs WHERE kind = 'system')
), points AS (
  SELECT host_id, process_id, began_ns AS unix_ns, 0 AS cpu_ns, 0 AS io_bytes FROM alive
  UNION ALL
  SELECT host_id, process_id, ended_ns, coalesce(cpu_ns, 0),
         coalesce(read_bytes, 0) + coalesce(write_bytes, 0) + coalesce(sent_bytes, 0)
           + coalesce(received_bytes, 0)
    FROM alive
  UNION ALL
  SELECT a.host_id, s.process_id, s.boot_ns + a.boot_unix_ns, coalesce(s.cpu_ns, 0),
         coalesce(s.read_bytes, 0) + coalesce(s.write_bytes, 0) + coalesce(s.sent_bytes, 0)
           + coalesce(s.received_bytes, 0)
    FROM samples s JOIN alive a ON a.process_id = s.process_id
), steps AS (
  SELECT host_id, unix_ns,
         unix_ns - lag(unix_ns) OVER process AS elapsed_ns,
         cpu_ns - lag(cpu_ns) OVER process AS used_ns,
         io_bytes - lag(io_bytes) OVER process AS moved_bytes
    FROM points
  WINDOW process AS (PARTITION BY host_id, process_id ORDER BY unix_ns, cpu_ns)
)
SELECT r.hostname, r.until_ns
  FROM recent r
 WHERE r.host_id NOT IN (
         SELECT s.host_id FROM steps s JOIN recent w ON w.host_id = s.host_id
          WHERE s.unix_ns > w.since_ns AND (s.used_ns * 100 > s.elapsed_ns OR s.moved_bytes > 0))
 ORDER BY r.hostname;
