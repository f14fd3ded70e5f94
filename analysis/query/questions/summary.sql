-- title: What did the jobs of each user do and use lately?
-- explanation: For the pages of users in cluster portals: runs of users that ran in a window of time before the latest data,
--   without the system's own, login sessions and services. Runs that began earlier or still run count as a whole, as in
--   sacct, with what they have used so far; a run on several hosts counts once. Averages are over time: a run that took
--   twice as long weighs twice as much. Memory used is the most at one time of each run. Allocated is known only of
--   batch jobs and containers that were allowed less than the host has; efficiency is what those used of it.
--   Whether a run was killed by a time limit or by someone is not known here, nor are its time limit, how long it
--   waited in a queue, and how many GPUs it was allocated: these are empty.
-- parameter: user_id user = none; only this user
-- parameter: window_ns duration = 24h; length of the window, such as 24h, 7d or 30d
-- column: user_id user; the user
-- column: until_unix_ns time; end of the window: the latest data
-- column: run_count count; runs
-- column: running_count count; runs in progress
-- column: succeeded_count count; runs that succeeded
-- column: failed_count count; runs that failed by themselves
-- column: oom_killed_count count; runs that failed for lack of memory
-- column: killed_count count; runs that a signal ended: cancelled, at a time limit, crashed
-- column: unknown_count count; runs that ended; how is unknown
-- column: wall_ns duration; wall time, of all runs
-- column: mean_wall_ns duration; wall time, on average
-- column: time_limit_ns duration; wall time allowed, on average: not known here
-- column: waiting_ns duration; time in the queue, on average: not known here
-- column: cpu_ns duration; CPU time, of all runs
-- column: used_cores number; processors used, on average
-- column: allocated_cores number; processors allocated, on average
-- column: cpu_efficiency_share share; used of the allocated processors
-- column: used_memory_bytes bytes; memory used, on average
-- column: allocated_memory_bytes bytes; memory allocated, on average
-- column: memory_efficiency_share share; used of the allocated memory
-- column: used_gib_hours number; memory used times hours, of all runs
-- column: gpu_run_count count?; runs that used a GPU, as far as a sampler reports it
-- column: gpu_busy_ns duration?; time that GPUs worked, of all runs
-- column: allocated_gpus number; GPUs allocated, on average: not known here
WITH latest AS (
  SELECT max(last_seen_unix_ns) AS now_unix_ns FROM hosts
), oom AS (
  SELECT host_id AS oom_host_id, run_id AS oom_run_id
    FROM incidents
   WHERE kind = 'oom-kill' AND fatal = 1 AND run_id IS NOT NULL
   GROUP BY host_id, run_id
), part AS ( -- of a run, on one host; of its states the highest counts
  SELECT r.user_id AS part_user_id, coalesce(j.joined_id, r.id) AS part_job_id, latest.now_unix_ns AS now_unix_ns,
         CASE WHEN r.status = 'running' THEN 6
              WHEN r.status IN ('failed', 'killed') AND oom.oom_run_id IS NOT NULL THEN 5
              WHEN r.status = 'failed' THEN 4 WHEN r.status = 'killed' THEN 3 WHEN r.status = 'ended' THEN 2
              ELSE 1 END AS part_state,
         CASE WHEN r.life_ns > 0 THEN r.life_ns ELSE 0 END AS part_wall_ns, r.cpu_ns AS part_cpu_ns,
         r.peak_memory_bytes AS part_bytes, r.gpu_busy_ns AS part_gpu_ns,
         CASE WHEN r.kind IN ('batch', 'container') AND r.core_limit_milli > 0
                   AND r.core_limit_milli < 1000 * h.cpu_count THEN r.core_limit_milli END AS core_milli,
         CASE WHEN r.kind IN ('batch', 'container') AND r.memory_limit_bytes > 0
                   AND r.memory_limit_bytes < h.memory_bytes THEN r.memory_limit_bytes END AS limit_bytes
    FROM work_runs r
    JOIN hosts h ON h.id = r.host_id
    CROSS JOIN latest
    LEFT JOIN joined_runs j ON j.id = r.id
    LEFT JOIN oom ON oom.oom_host_id = r.host_id AND oom.oom_run_id = r.id
   WHERE r.is_service = 0 AND r.user_id IS NOT NULL AND (:user_id IS NULL OR r.user_id = :user_id)
     AND r.started_unix_ns + r.life_ns >= latest.now_unix_ns - :window_ns
), job AS ( -- core-milliseconds and MiB-seconds: in nanoseconds and bytes, those of a fleet exceed 64 bits
  SELECT part_user_id AS job_user_id, part_job_id, max(now_unix_ns) AS job_now_unix_ns, max(part_state) AS state,
         max(part_wall_ns) AS job_wall_ns, sum(part_cpu_ns) AS job_cpu_ns, sum(part_gpu_ns) AS job_gpu_ns,
         sum(CAST(1.0 * part_bytes / 1048576 * (0.000000001 * part_wall_ns) AS BIGINT)) AS used_mib_s,
         sum(CAST(0.000000001 * core_milli * part_wall_ns AS BIGINT)) AS allocated_core_ms,
         sum(CASE WHEN core_milli > 0 THEN CAST(0.000001 * part_cpu_ns AS BIGINT) END) AS used_core_ms,
         max(CASE WHEN core_milli > 0 THEN part_wall_ns END) AS core_wall_ns,
         sum(CAST(1.0 * limit_bytes / 1048576 * (0.000000001 * part_wall_ns) AS BIGINT)) AS allocated_mib_s,
         sum(CASE WHEN limit_bytes > 0
                  THEN CAST(1.0 * part_bytes / 1048576 * (0.000000001 * part_wall_ns) AS BIGINT) END) AS used_of_limit_mib_s,
         max(CASE WHEN limit_bytes > 0 THEN part_wall_ns END) AS limit_wall_ns
    FROM part
   GROUP BY part_user_id, part_job_id
), total AS (
  SELECT job_user_id, max(job_now_unix_ns) AS all_now_unix_ns, count(*) AS runs,
         sum(CASE WHEN state = 6 THEN 1 ELSE 0 END) AS running, sum(CASE WHEN state = 1 THEN 1 ELSE 0 END) AS succeeded,
         sum(CASE WHEN state = 4 THEN 1 ELSE 0 END) AS failed, sum(CASE WHEN state = 5 THEN 1 ELSE 0 END) AS oom_killed,
         sum(CASE WHEN state = 3 THEN 1 ELSE 0 END) AS killed, sum(CASE WHEN state = 2 THEN 1 ELSE 0 END) AS unknown,
         sum(job_wall_ns) AS wall, sum(job_cpu_ns) AS cpu, sum(used_mib_s) AS used_mib, sum(job_gpu_ns) AS gpu,
         sum(CASE WHEN job_gpu_ns > 0 THEN 1 ELSE 0 END) AS gpu_runs,
         sum(allocated_core_ms) AS all_allocated_core_ms, sum(used_core_ms) AS all_used_core_ms,
         sum(core_wall_ns) AS core_wall, sum(allocated_mib_s) AS all_allocated_mib_s,
         sum(used_of_limit_mib_s) AS all_used_of_limit_mib_s, sum(limit_wall_ns) AS limit_wall
    FROM job
   GROUP BY job_user_id
)
SELECT job_user_id AS user_id, all_now_unix_ns AS until_unix_ns, runs AS run_count, running AS running_count,
       succeeded AS succeeded_count, failed AS failed_count, oom_killed AS oom_killed_count, killed AS killed_count,
       unknown AS unknown_count, wall AS wall_ns, CAST(1.0 * wall / runs AS BIGINT) AS mean_wall_ns,
       CAST(NULL AS BIGINT) AS time_limit_ns, CAST(NULL AS BIGINT) AS waiting_ns, cpu AS cpu_ns,
       1.0 * cpu / nullif(wall, 0) AS used_cores,
       1.0 * 1000000 * all_allocated_core_ms / nullif(core_wall, 0) AS allocated_cores,
       1.0 * all_used_core_ms / nullif(all_allocated_core_ms, 0) AS cpu_efficiency_share,
       CAST(1.0 * 1048576000000000 * used_mib / CASE WHEN wall > 0 THEN wall ELSE 1 END AS BIGINT) AS used_memory_bytes,
       CAST(1.0 * 1048576000000000 * all_allocated_mib_s / CASE WHEN limit_wall > 0 THEN limit_wall ELSE 1 END AS BIGINT)
         AS allocated_memory_bytes,
       1.0 * all_used_of_limit_mib_s / nullif(all_allocated_mib_s, 0) AS memory_efficiency_share,
       1.0 * used_mib / 3686400 AS used_gib_hours, gpu_runs AS gpu_run_count, gpu AS gpu_busy_ns,
       CAST(NULL AS BIGINT) AS allocated_gpus
  FROM total
 ORDER BY job_user_id;
