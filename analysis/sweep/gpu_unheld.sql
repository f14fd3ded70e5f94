-- title: Which GPUs does no process hold?
-- explanation: NVIDIA GPUs of hosts, as a sampler reports them (docs/gpu.md), that no process has held open for an hour or
--   more, up to when the host was last heard of. What services of the distribution and known agents hold does not count
--   (nvidia-persistenced, dcgm-exporter). A device that was held for less than ten seconds may have been missed.
-- finding: sweep
-- needs: all users
-- parameter: since_unix_ns time = 7d; only what was seen from then on
-- parameter: least_ns duration = 1h; minimum time without a process; source: our proposal (docs/sweep.md)
-- column: run_id id; none
-- column: gpu text; the device
-- column: gpus text; all devices of the host
-- column: unheld_ns duration; time without a process
-- column: held_gpu_ns duration; the same, of a device
-- subject: gpu
-- impact: gpu = held_gpu_ns
-- sentence: no process has held {gpu} of {hostname} for {unheld_ns}; the host has {gpus}
-- advice: Take a host with fewer GPUs, or let the batch system give this one to more jobs.
WITH digit AS (
  SELECT 0 AS number UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3
), name AS (
  SELECT 'nvidia' || CAST(16 * a.number + 4 * b.number + c.number AS TEXT) AS name_gpu
    FROM digit a CROSS JOIN digit b CROSS JOIN digit c
), device AS ( -- of hosts with GPUs; since when it may be without a process, if none held it
  SELECT h.id AS device_host_id, name.name_gpu AS device_gpu, h.hostname AS device_hostname, h.gpus AS device_gpus,
         h.last_seen_unix_ns AS seen_unix_ns,
         CASE WHEN h.boot_unix_ns > h.first_seen_unix_ns AND h.boot_unix_ns > :since_unix_ns THEN h.boot_unix_ns
              WHEN h.first_seen_unix_ns > :since_unix_ns THEN h.first_seen_unix_ns ELSE :since_unix_ns END AS first_unix_ns
    FROM hosts h CROSS JOIN name
   WHERE h.gpus IS NOT NULL AND replace(',' || h.gpus || ',', ',' || name.name_gpu || ',', '') <> ',' || h.gpus || ','
), holding AS ( -- one row for each list of devices
  SELECT p.host_id AS holding_host_id, ',' || p.gpu || ',' AS holding_list,
         max(CASE WHEN p.end_boot_ns IS NULL THEN 1 ELSE 0 END) AS is_held,
         max(p.started_unix_ns + (p.end_boot_ns - p.begin_boot_ns)) AS holding_until_unix_ns
    FROM gpu_processes p
   WHERE p.host_id IN (SELECT id FROM hosts WHERE gpus IS NOT NULL)
     AND (p.host_id, p.run_id) NOT IN (SELECT host_id, id FROM runs WHERE kind IN ('system', 'host-service'))
   GROUP BY p.host_id, p.gpu
), free AS (
  SELECT device.device_host_id AS free_host_id, device.device_gpu AS free_gpu, min(device.device_hostname) AS free_hostname,
         min(device.device_gpus) AS free_gpus, min(device.seen_unix_ns) AS until_unix_ns,
         min(device.first_unix_ns) AS first_unix_ns, max(holding.holding_until_unix_ns) AS held_until_unix_ns
    FROM device
    LEFT JOIN holding ON holding.holding_host_id = device.device_host_id
         AND replace(holding.holding_list, ',' || device.device_gpu || ',', '') <> holding.holding_list
   GROUP BY device.device_host_id, device.device_gpu
  HAVING coalesce(max(holding.is_held), 0) = 0
), found AS (
  SELECT free_host_id, free_gpu, free_hostname, free_gpus, until_unix_ns,
         CASE WHEN held_until_unix_ns > first_unix_ns THEN held_until_unix_ns ELSE first_unix_ns END AS begin_unix_ns
    FROM free
)
SELECT free_host_id AS host_id, free_hostname AS hostname, begin_unix_ns AS since_unix_ns, until_unix_ns,
       1 AS is_now, 'likely' AS certainty, CAST(NULL AS BIGINT) AS run_id, NULL AS run, free_gpu AS gpu,
       free_gpus AS gpus, until_unix_ns - begin_unix_ns AS unheld_ns, until_unix_ns - begin_unix_ns AS held_gpu_ns
  FROM found
 WHERE until_unix_ns - begin_unix_ns >= :least_ns
 ORDER BY unheld_ns DESC, free_host_id, free_gpu;
