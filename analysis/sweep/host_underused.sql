-- title: Which hosts hardly use their processors?
-- explanation: The vendors' rule for idle machines: hardly any CPU for nearly all of the time, and hardly any network
--   traffic where it is known. Work that uses little counts as use all the same: a host on which a task began or ended
--   in that time is not listed, and with work running it must have been quiet all of the time. Services are not work here:
--   one that uses much makes the host as a whole busy.
-- finding: sweep
-- parameter: since_unix_ns time = 7d; only what was seen from then on
-- parameter: most_cores number = 0.03; cores in use below which a host is quiet; source: Google Cloud, idle VM
--   recommendations
-- parameter: least_quiet_share share = 97%; minimum share of the time that is quiet; source: Google Cloud, idle VM
--   recommendations
-- parameter: most_network_bytes bytes = 2000; network traffic, bytes a second, below which it is quiet; source:
--   Google Cloud, idle VM recommendations
-- parameter: least_ns duration = 1d; minimum time watched; source: our proposal; Google Cloud watches 14 days
-- column: quiet_share share; share of the time that was quiet
-- column: used_cores number; cores in use on average
-- column: observed_ns duration; time watched
-- column: cpu_count count; processors
-- column: held_cpu_ns duration; time of its cores
-- column: held_byte_seconds byte_seconds; its memory times that time
-- subject: hostname
-- impact: cpu = held_cpu_ns, memory = held_byte_seconds
-- sentence: {hostname} was quiet for {quiet_share} of {observed_ns}: {used_cores} of {cpu_count} processor(s) in use on
--   average
-- advice: Move what runs there to another host, and stop it.
WITH watched AS (
  SELECT host_id AS watched_host_id, min(last_unix_ns - covered_ns) AS first_unix_ns, max(last_unix_ns) AS until_unix_ns,
         sum(covered_ns) AS all_ns, sum(cpu_ns) AS all_busy_ns, count(cpu_ns) AS known_count,
         sum(CASE WHEN cpu_ns < :most_cores * covered_ns THEN covered_ns ELSE 0 END) AS quiet_ns,
         sum(CASE WHEN 1.0 * network_bytes * 1000000000 >= 1.0 * :most_network_bytes * covered_ns THEN covered_ns
                  ELSE 0 END) AS talking_ns
    FROM host_activity
   WHERE begin_unix_ns >= :since_unix_ns
   GROUP BY host_id
), work AS MATERIALIZED (
  SELECT host_id AS work_host_id, id AS work_run_id,
         CASE WHEN started_unix_ns >= :since_unix_ns OR end_boot_ns IS NOT NULL THEN 1 ELSE 0 END AS has_changed
    FROM work_runs
   WHERE is_service = 0 AND (end_boot_ns IS NULL OR end_unix_ns >= :since_unix_ns)
), changed AS ( -- a run began or ended, or a task of one that was open all the time
  SELECT work_host_id AS changed_host_id FROM work WHERE has_changed = 1
   UNION ALL
  SELECT host_id FROM standing_tasks
   WHERE (host_id, run_id) IN (SELECT work_host_id, work_run_id FROM work WHERE has_changed = 0)
     AND (started_unix_ns >= :since_unix_ns OR started_unix_ns + wall_ns >= :since_unix_ns)
), latest AS (
  SELECT host_id AS latest_host_id, id AS latest_run_id, name AS latest_run,
         row_number() OVER (PARTITION BY host_id ORDER BY coalesce(end_unix_ns, started_unix_ns) DESC, id) AS place
    FROM work_runs
)
SELECT h.id AS host_id, h.hostname AS hostname, watched.first_unix_ns AS since_unix_ns,
       watched.until_unix_ns AS until_unix_ns, 1 AS is_now,
       CASE WHEN watched.all_ns >= 0.95 * (watched.until_unix_ns - watched.first_unix_ns) THEN 'certain' ELSE 'likely' END
         AS certainty,
       latest.latest_run_id AS run_id, latest.latest_run AS run, 1.0 * watched.quiet_ns / watched.all_ns AS quiet_share,
       1.0 * watched.all_busy_ns / watched.all_ns AS used_cores, watched.all_ns AS observed_ns, h.cpu_count AS cpu_count,
       h.cpu_count * watched.all_ns AS held_cpu_ns,
       CAST(1.0 * h.memory_bytes * watched.all_ns / 1000000000 AS BIGINT) AS held_byte_seconds
  FROM hosts h
  JOIN watched ON watched.watched_host_id = h.id
  LEFT JOIN latest ON latest.latest_host_id = h.id AND latest.place = 1
 WHERE watched.all_ns >= :least_ns AND watched.known_count > 0
   AND watched.quiet_ns >= :least_quiet_share * watched.all_ns
   AND watched.talking_ns <= (1 - :least_quiet_share) * watched.all_ns
   AND h.id NOT IN (SELECT changed_host_id FROM changed)
   AND (watched.quiet_ns = watched.all_ns AND watched.talking_ns = 0 OR h.id NOT IN (SELECT work_host_id FROM work))
 ORDER BY watched.all_ns DESC, h.id;
