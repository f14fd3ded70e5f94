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
WITH digit AS MATERIALIZED (
  SELECT 0 AS number UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3
), name AS (
  SELECT 'nvidia' || CAST(16 * a.number + 4 * b.number + c.number AS TEXT) AS name_gpu
    FROM digit a CROSS JOIN digit b CROSS JOIN digit c
), device AS MATERIALIZED (
  SELECT h.id AS device_host_id, name.name_gpu AS device_gpu, h.first_seen_unix_ns AS first_unix_ns,
         h.boot_unix_ns AS device_boot_unix_ns
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
), held AS MATERIALIZED (
  SELECT device.device_host_id AS held_host_id, device.device_gpu AS held_gpu, max(holding.is_held) AS held_now,
         max(holding.holding_until_unix_ns) AS held_until_unix_ns
    FROM device
    JOIN holding ON holding.holding_host_id = device.device_host_id
   WHERE replace(holding.holding_list, ',' || device.device_gpu || ',', '') <> holding.holding_list
   GROUP BY device.device_host_id, device.device_gpu
), latest AS (
  SELECT latest_host_id, latest_gpu, max(at_unix_ns) AS begin_unix_ns
    FROM (SELECT device_host_id AS latest_host_id, device_gpu AS latest_gpu, first_unix_ns AS at_unix_ns FROM device
           UNION ALL SELECT device_host_id, device_gpu, device_boot_unix_ns FROM device
           UNION ALL SELECT device_host_id, device_gpu, :since_unix_ns FROM device
           UNION ALL SELECT held_host_id, held_gpu, held_until_unix_ns FROM held) each
   GROUP BY latest_host_id, latest_gpu
)
SELECT h.id AS host_id, h.hostname AS hostname, latest.begin_unix_ns AS since_unix_ns, h.last_seen_unix_ns AS until_unix_ns,
       1 AS is_now, 'likely' AS certainty, CAST(NULL AS BIGINT) AS run_id, NULL AS run, latest.latest_gpu AS gpu,
       h.gpus AS gpus, h.last_seen_unix_ns - latest.begin_unix_ns AS unheld_ns,
       h.last_seen_unix_ns - latest.begin_unix_ns AS held_gpu_ns
  FROM latest
  JOIN hosts h ON h.id = latest.latest_host_id
 WHERE h.last_seen_unix_ns - latest.begin_unix_ns >= :least_ns
   AND (latest.latest_host_id, latest.latest_gpu) NOT IN (SELECT held_host_id, held_gpu FROM held WHERE held_now = 1)
 ORDER BY unheld_ns DESC, h.id, latest.latest_gpu;
