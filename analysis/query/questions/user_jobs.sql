-- title: What did the jobs of each user ask for and not use?
-- explanation: Runs of users that ended, or still ran, in that time, by name: the most wasteful ones of each user, and
--   totals of all. Asked for is known only of batch jobs and containers that were allowed less than the host has:
--   processors, and memory. Used is CPU time, and the most memory at one time for as long as the run lasted. A run on
--   several hosts counts once for each. Failed is CPU time of runs that failed.
-- parameter: since_unix_ns time = 7d; only runs that were running at or after this time
-- parameter: least_ns duration = 61m; what was asked for counts from this wall time on; source: Princeton's Job Defense
--   Shield, excess memory
-- parameter: most_cpu_share share = 60%; use of processors below which a user has a low one; source: Princeton's Job
--   Defense Shield, low CPU efficiency
-- parameter: least_core_hours number = 100; core-hours from which on that counts; source: Princeton's Job Defense
--   Shield, low CPU efficiency
-- parameter: most_memory_share share = 35%; use of memory below which a user has a low one; source: Princeton's Job
--   Defense Shield, excess memory
-- parameter: least_gib_hours number = 900; GiB-hours not used from which on that counts; source: our proposal: they
--   cost as much as 100 core-hours (Job Defense Shield has 50 TB-hours, for a large cluster)
-- parameter: least_failed_core_hours number = 1; CPU time of failed runs from which on that counts; source: our proposal
-- parameter: limit count = 5; maximum number of names of each user
-- column: user_id user; the user
-- column: user_run_count count; all runs of the user
-- column: user_failed_count count; those that failed
-- column: user_asked_core_hours number; processors asked for, times hours, all runs
-- column: user_unused_core_hours number; those not used
-- column: user_asked_gib_hours number; memory asked for, times hours, all runs
-- column: user_unused_gib_hours number; that not used
-- column: user_failed_core_hours number; CPU time of failed runs, all runs
-- column: is_low_cpu flag; whether little of the processors was used
-- column: is_low_memory flag; whether little of the memory was used
-- column: is_failing flag; whether failed runs used much
-- column: name text; the run
-- column: run_count count; runs of this name
-- column: failed_count count; those that failed
-- column: asked_cores number; processors asked for, the most
-- column: most_cores number; processors used on average, in the run that used most
-- column: enough_cores number; processors of which that run would have used most_cpu_share
-- column: unused_core_hours number; not used, times hours
-- column: asked_bytes bytes; memory asked for, the most
-- column: most_bytes bytes; memory used, the most
-- column: unused_gib_hours number; not used, times hours
-- column: failed_core_hours number; CPU time of failed runs
WITH run AS (
  SELECT r.user_id AS run_user_id, r.name AS run_name, CASE WHEN r.status IN ('failed', 'killed') THEN 1 ELSE 0 END AS failed,
         r.cpu_ns AS run_cpu_ns, r.peak_memory_bytes AS run_bytes,
         coalesce(r.wall_ns, h.last_seen_unix_ns - h.boot_unix_ns - r.begin_boot_ns) AS run_wall_ns,
         CASE WHEN r.kind IN ('batch', 'container') AND r.core_limit_milli > 0
                   AND r.core_limit_milli < 1000 * h.cpu_count THEN r.core_limit_milli END AS core_milli,
         CASE WHEN r.kind IN ('batch', 'container') AND r.memory_limit_bytes > 0
                   AND r.memory_limit_bytes < h.memory_bytes THEN r.memory_limit_bytes END AS limit_bytes
    FROM standing_runs r JOIN hosts h ON h.id = r.host_id
   WHERE r.kind NOT IN ('system', 'session', 'host-service', 'service') AND r.user_id IS NOT NULL
     AND (r.wall_ns IS NULL OR r.started_unix_ns + r.wall_ns >= :since_unix_ns)
), figure AS ( -- core-milliseconds and MiB-seconds: in nanoseconds and bytes, those of a fleet exceed 64 bits
  SELECT run_user_id, run_name, failed, CASE WHEN run_wall_ns > 0 THEN 1.0 * run_cpu_ns / run_wall_ns END AS run_cores,
         CASE WHEN run_wall_ns >= :least_ns THEN core_milli END AS asked_milli,
         CASE WHEN run_wall_ns >= :least_ns THEN limit_bytes END AS asked_limit_bytes, run_bytes,
         CASE WHEN run_wall_ns >= :least_ns THEN CAST(0.000000001 * core_milli * run_wall_ns AS BIGINT) END AS asked_core_ms,
         CASE WHEN run_wall_ns >= :least_ns AND core_milli > 0 THEN CAST(0.000001 * run_cpu_ns AS BIGINT) END AS used_core_ms,
         CASE WHEN run_wall_ns >= :least_ns
              THEN CAST(1.0 * limit_bytes / 1048576 * (0.000000001 * run_wall_ns) AS BIGINT) END AS asked_mib_s,
         CASE WHEN run_wall_ns >= :least_ns AND limit_bytes > 0
              THEN CAST(1.0 * run_bytes / 1048576 * (0.000000001 * run_wall_ns) AS BIGINT) END AS used_mib_s,
         CASE WHEN failed = 1 THEN CAST(0.000001 * run_cpu_ns AS BIGINT) ELSE 0 END AS failed_ms
    FROM run
), job AS (
  SELECT run_user_id AS job_user_id, run_name AS job_name, count(*) AS job_run_count, sum(failed) AS job_failed_count,
         max(0.001 * asked_milli) AS job_asked_cores,
         max(CASE WHEN asked_milli > 0 THEN run_cores END) AS job_most_cores,
         coalesce(sum(asked_core_ms), 0) AS job_asked_ms,
         coalesce(sum(CASE WHEN used_core_ms < asked_core_ms THEN asked_core_ms - used_core_ms ELSE 0 END), 0)
           AS job_unused_ms,
         max(asked_limit_bytes) AS job_asked_bytes,
         max(CASE WHEN asked_limit_bytes > 0 THEN run_bytes END) AS job_most_bytes,
         coalesce(sum(asked_mib_s), 0) AS job_asked_mib_s,
         coalesce(sum(CASE WHEN used_mib_s < asked_mib_s THEN asked_mib_s - used_mib_s ELSE 0 END), 0)
           AS job_unused_mib_s,
         sum(failed_ms) AS job_failed_ms
    FROM figure
   GROUP BY run_user_id, run_name
), placed AS ( -- a core weighs as much as 9 GiB
  SELECT job_user_id, job_name, job_run_count, job_failed_count, job_asked_cores, job_most_cores, job_unused_ms,
         job_asked_bytes, job_most_bytes, job_unused_mib_s, job_failed_ms,
         sum(job_run_count) OVER (PARTITION BY job_user_id) AS all_run_count,
         sum(job_failed_count) OVER (PARTITION BY job_user_id) AS all_failed_count,
         sum(job_asked_ms) OVER (PARTITION BY job_user_id) AS all_asked_ms,
         sum(job_unused_ms) OVER (PARTITION BY job_user_id) AS all_unused_ms,
         sum(job_asked_mib_s) OVER (PARTITION BY job_user_id) AS all_asked_mib_s,
         sum(job_unused_mib_s) OVER (PARTITION BY job_user_id) AS all_unused_mib_s,
         sum(job_failed_ms) OVER (PARTITION BY job_user_id) AS all_failed_ms,
         row_number() OVER (PARTITION BY job_user_id
                            ORDER BY 9.216 * (job_unused_ms + job_failed_ms) + job_unused_mib_s DESC, job_name) AS place
    FROM job
)
SELECT job_user_id AS user_id, all_run_count AS user_run_count, all_failed_count AS user_failed_count,
       1.0 * all_asked_ms / 3600000 AS user_asked_core_hours, 1.0 * all_unused_ms / 3600000 AS user_unused_core_hours,
       1.0 * all_asked_mib_s / 3686400 AS user_asked_gib_hours, 1.0 * all_unused_mib_s / 3686400 AS user_unused_gib_hours,
       1.0 * all_failed_ms / 3600000 AS user_failed_core_hours,
       CASE WHEN all_asked_ms > :least_core_hours * 3600000 AND all_asked_ms - all_unused_ms < :most_cpu_share * all_asked_ms
            THEN 1 ELSE 0 END AS is_low_cpu,
       CASE WHEN all_unused_mib_s >= :least_gib_hours * 3686400
                 AND all_asked_mib_s - all_unused_mib_s < :most_memory_share * all_asked_mib_s
            THEN 1 ELSE 0 END AS is_low_memory,
       CASE WHEN all_failed_ms > 0 AND all_failed_ms >= :least_failed_core_hours * 3600000 THEN 1 ELSE 0 END AS is_failing,
       job_name AS name, job_run_count AS run_count, job_failed_count AS failed_count, job_asked_cores AS asked_cores,
       job_most_cores AS most_cores,
       CASE WHEN :most_cpu_share > 0 THEN 1.0 * job_most_cores / :most_cpu_share END AS enough_cores,
       1.0 * job_unused_ms / 3600000 AS unused_core_hours,
       job_asked_bytes AS asked_bytes, job_most_bytes AS most_bytes, 1.0 * job_unused_mib_s / 3686400 AS unused_gib_hours,
       1.0 * job_failed_ms / 3600000 AS failed_core_hours
  FROM placed
 WHERE place <= :limit
 ORDER BY job_user_id, place;
