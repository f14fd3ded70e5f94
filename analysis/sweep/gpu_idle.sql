-- title: Which processes hold a GPU and do not use it?
-- explanation: Running processes that have memory on a GPU, and for which no GPU has worked for an hour or more, as a
--   sampler reports it (docs/gpu.md). If the driver does not say how long a device worked for each process, its
--   processes are not listed. One device is counted for the time without use: a process with several may use another one.
-- finding: sweep
-- parameter: since_unix_ns time = 7d; only what was seen from then on
-- parameter: least_ns duration = 1h; minimum time without use; source: our proposal (docs/sweep.md)
-- column: run_id id; the run of the process
-- column: user_id user; whose process
-- column: program text; its program
-- column: pid number; its process id
-- column: gpu text; devices that it has open
-- column: unused_ns duration; time without use
-- column: gpu_bytes bytes?; memory that it holds on GPUs
-- column: held_gpu_ns duration; time of a device in which it was held without use
-- subject: pid
-- impact: gpu = held_gpu_ns
-- sentence: {program} (pid {pid}) of user {user_id} on {hostname} holds {gpu_bytes} of GPU memory, and has not used a GPU
--   for {unused_ns}
-- advice: Ask its user to end it, or to free the device.
WITH held AS MATERIALIZED (
  SELECT host_id AS held_host_id, id AS held_id, run_id AS held_run_id, user_id AS held_user_id, pid AS held_pid,
         program AS held_program, gpu AS held_gpu
    FROM open_processes
   WHERE gpu_busy_ns IS NOT NULL AND gpu_peak_bytes IS NOT NULL
), sample AS (
  SELECT host_id AS sample_host_id, process_id AS sample_id, unix_ns AS sample_unix_ns, gpu_busy_ns AS sample_busy_ns,
         gpu_memory_bytes AS sample_bytes,
         max(gpu_busy_ns) OVER (PARTITION BY host_id, process_id) AS most_busy_ns,
         max(unix_ns) OVER (PARTITION BY host_id, process_id) AS latest_unix_ns
    FROM placed_samples
   WHERE (host_id, process_id) IN (SELECT held_host_id, held_id FROM held)
), used AS (
  SELECT sample_host_id AS used_host_id, sample_id AS used_id,
         min(CASE WHEN sample_busy_ns = most_busy_ns THEN sample_unix_ns END) AS used_unix_ns,
         max(CASE WHEN sample_unix_ns = latest_unix_ns THEN sample_bytes END) AS used_bytes
    FROM sample
   GROUP BY sample_host_id, sample_id
)
SELECT h.id AS host_id, h.hostname AS hostname, used.used_unix_ns AS since_unix_ns, h.last_seen_unix_ns AS until_unix_ns,
       1 AS is_now, 'certain' AS certainty, held.held_run_id AS run_id, NULL AS run, held.held_user_id AS user_id,
       held.held_program AS program, held.held_pid AS pid, held.held_gpu AS gpu,
       h.last_seen_unix_ns - used.used_unix_ns AS unused_ns, used.used_bytes AS gpu_bytes,
       h.last_seen_unix_ns - used.used_unix_ns AS held_gpu_ns
  FROM held
  JOIN hosts h ON h.id = held.held_host_id
  JOIN used ON used.used_host_id = held.held_host_id AND used.used_id = held.held_id
 WHERE used.used_bytes > 0 AND h.last_seen_unix_ns >= :since_unix_ns
   AND h.last_seen_unix_ns - used.used_unix_ns >= :least_ns
 ORDER BY unused_ns DESC, held.held_id;
