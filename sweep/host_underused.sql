-- title: Which hosts hardly use their processors?
-- explanation: The vendors' rule for idle machines: hardly any CPU for nearly all of the time, and hardly any network
--   traffic where it is known. Work that uses little counts as use all the same: a host on which a task began or ended
--   in that time is not listed, and with work running it must have been quiet all of the time.
-- finding: sweep
-- parameter: since_unix_ns time = 7d; only what was seen from then on
-- parameter: most_cores number = 0.03; cores in use below which a host is quiet; source: Google Cloud, idle VM
--   recommendations
-- parameter: least_quiet_share share = 97%; minimum share of the time that is quiet; source: Google Cloud, idle VM
--   recommendations
-- parameter: most_network_bytes bytes = 2000; network traffic, bytes a second, below which it is quiet; source:
--   Google Cloud, idle VM recommendations
-- parameter: least_ns duration = 1d; minimum time watched; source: our proposal; Google Cloud watches 14 days
-- column: host_id id; the host
-- column: hostname text; host name
-- column: since_unix_ns time; when it began
-- column: until_unix_ns time; when it ended, or was last seen
-- column: is_now flag; whether it went on when the host was last heard of
-- column: certainty text; certain, or likely if something in that time was not seen
-- column: run_id id; the run it is tied to; unknown if none
-- column: run text; name of that run
-- column: quiet_share share; share of the time that was quiet
-- column: used_cores number; cores in use on average
-- column: observed_ns duration; time watched
-- column: cpu_count count; processors
-- column: held_cpu_ns duration; time of its cores
-- column: held_byte_seconds byte_seconds; its memory times that time
-- subject: hostname
-- impact: cpu = held_cpu_ns, memory = held_byte_seconds
-- sentence: {hostname} was quiet for {quiet_share} of {observed_ns}: {used_cores} of {cpu_count} processors in use on
--   average
-- advice: Move what runs there to another host, and stop it.
WITH bucket AS (
  SELECT host_id AS bucket_host_id, unix_ns - unix_ns % 300000000000 AS bucket_unix_ns, max(unix_ns) AS last_unix_ns,
         max(boot_ns) AS last_boot_ns, max(cpu_user_ns + cpu_system_ns) AS busy_ns,
         max(disk_read_bytes + disk_write_bytes) AS disk_bytes,
         max(network_received_bytes + network_sent_bytes) AS network_bytes
    FROM host_samples
   WHERE unix_ns >= :since_unix_ns
   GROUP BY host_id, unix_ns - unix_ns % 300000000000
), paired AS (
  SELECT bucket_host_id, bucket_unix_ns, last_unix_ns,
         last_unix_ns - min(last_unix_ns) OVER (PARTITION BY bucket_host_id ORDER BY bucket_unix_ns
                                                ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING) AS step_ns,
         last_boot_ns - min(last_boot_ns) OVER (PARTITION BY bucket_host_id ORDER BY bucket_unix_ns
                                                ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING) AS boot_step_ns,
         busy_ns - min(busy_ns) OVER (PARTITION BY bucket_host_id ORDER BY bucket_unix_ns
                                      ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING) AS busy_step_ns,
         disk_bytes - min(disk_bytes) OVER (PARTITION BY bucket_host_id ORDER BY bucket_unix_ns
                                      ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING) AS disk_step_bytes,
         network_bytes - min(network_bytes) OVER (PARTITION BY bucket_host_id ORDER BY bucket_unix_ns
                                      ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING) AS network_step_bytes
    FROM bucket
), step AS (
  SELECT bucket_host_id AS step_host_id, last_unix_ns AS step_unix_ns, step_ns, busy_step_ns, disk_step_bytes,
         network_step_bytes
    FROM paired
   WHERE step_ns > 0 AND step_ns <= 2 * 300000000000 AND abs(step_ns - boot_step_ns) <= 30000000000
), total AS (
  SELECT step_host_id AS total_host_id, min(step_unix_ns - step_ns) AS first_unix_ns, max(step_unix_ns) AS last_unix_ns,
         sum(step_ns) AS all_ns, sum(busy_step_ns) AS all_busy_ns, count(busy_step_ns) AS known_count,
         sum(CASE WHEN busy_step_ns < :most_cores * step_ns THEN step_ns ELSE 0 END) AS quiet_ns,
         sum(CASE WHEN 1.0 * network_step_bytes * 1000000000 >= 1.0 * :most_network_bytes * step_ns THEN step_ns
                  ELSE 0 END)
           AS talking_ns
    FROM step
   GROUP BY step_host_id
), task AS (
  SELECT t.host_id AS task_host_id, count(*) AS task_count,
         sum(CASE WHEN t.started_unix_ns >= :since_unix_ns OR t.end_boot_ns IS NOT NULL THEN 1 ELSE 0 END)
           AS change_count
    FROM standing_tasks t JOIN standing_runs r ON r.host_id = t.host_id AND r.id = t.run_id
   WHERE r.kind NOT IN ('system', 'session', 'host-service')
     AND (t.end_boot_ns IS NULL OR t.started_unix_ns + t.wall_ns >= :since_unix_ns)
   GROUP BY t.host_id
), ended AS (
  SELECT host_id AS ended_host_id, max(coalesce(started_unix_ns + wall_ns, started_unix_ns)) AS ended_unix_ns
    FROM standing_runs
   WHERE kind NOT IN ('system', 'session', 'host-service')
   GROUP BY host_id
), latest AS (
  SELECT r.host_id AS latest_host_id, min(r.id) AS latest_run_id, min(r.name) AS latest_run
    FROM standing_runs r JOIN ended ON ended.ended_host_id = r.host_id
   WHERE r.kind NOT IN ('system', 'session', 'host-service')
     AND coalesce(r.started_unix_ns + r.wall_ns, r.started_unix_ns) = ended.ended_unix_ns
   GROUP BY r.host_id
)
SELECT h.id AS host_id, h.hostname AS hostname, total.first_unix_ns AS since_unix_ns,
       total.last_unix_ns AS until_unix_ns, 1 AS is_now,
       CASE WHEN total.all_ns >= 0.95 * (total.last_unix_ns - total.first_unix_ns) THEN 'certain' ELSE 'likely' END
         AS certainty,
       latest.latest_run_id AS run_id, latest.latest_run AS run, 1.0 * total.quiet_ns / total.all_ns AS quiet_share,
       1.0 * total.all_busy_ns / total.all_ns AS used_cores, total.all_ns AS observed_ns, h.cpu_count AS cpu_count,
       h.cpu_count * total.all_ns AS held_cpu_ns,
       CAST(1.0 * h.memory_bytes * total.all_ns / 1000000000 AS BIGINT) AS held_byte_seconds
  FROM hosts h
  JOIN total ON total.total_host_id = h.id
  LEFT JOIN task ON task.task_host_id = h.id
  LEFT JOIN latest ON latest.latest_host_id = h.id
 WHERE total.all_ns >= :least_ns AND total.known_count > 0
   AND total.quiet_ns >= :least_quiet_share * total.all_ns
   AND total.talking_ns <= (1 - :least_quiet_share) * total.all_ns
   AND coalesce(task.change_count, 0) = 0
   AND (coalesce(task.task_count, 0) = 0 OR (total.quiet_ns = total.all_ns AND total.talking_ns = 0))
 ORDER BY total.all_ns DESC, h.id;
