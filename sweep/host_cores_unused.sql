-- title: Which hosts have processors that were never used?
-- explanation: The processors beyond those that the busiest minute needed. Peaks within a minute are not seen.
-- finding: sweep
-- parameter: since_unix_ns time = 7d; only what was seen from then on
-- parameter: least_ns duration = 30h; minimum time watched; source: AWS Compute Optimizer needs 30 hours
-- parameter: least_cores count = 1; minimum number of unused processors
-- column: host_id id; the host
-- column: hostname text; host name
-- column: since_unix_ns time; when it began
-- column: until_unix_ns time; when it ended, or was last seen
-- column: is_now flag; whether it went on when the host was last heard of
-- column: certainty text; certain, or likely if something in that time was not seen
-- column: run_id id; the run it is tied to; unknown if none
-- column: run text; name of that run
-- column: unused_count count; processors that were never used
-- column: cpu_count count; processors
-- column: peak_cores number; cores in use in the busiest minute
-- column: observed_ns duration; time watched
-- column: held_cpu_ns duration; time of the unused processors
-- subject: hostname
-- impact: cpu = held_cpu_ns
-- sentence: {unused_count} of {cpu_count} processors of {hostname} were never used in {observed_ns}: the busiest
--   minute used {peak_cores}
-- advice: Give it more work at a time, or take a smaller machine.
WITH bucket AS (
  SELECT host_id AS bucket_host_id, unix_ns - unix_ns % 60000000000 AS bucket_unix_ns, max(unix_ns) AS last_unix_ns,
         max(boot_ns) AS last_boot_ns, max(cpu_user_ns + cpu_system_ns) AS busy_ns,
         min(memory_available_bytes) AS least_available_bytes
    FROM host_samples
   WHERE unix_ns >= :since_unix_ns
   GROUP BY host_id, unix_ns - unix_ns % 60000000000
), paired AS (
  SELECT bucket_host_id, bucket_unix_ns, last_unix_ns,
         last_unix_ns - min(last_unix_ns) OVER (PARTITION BY bucket_host_id ORDER BY bucket_unix_ns
                                                ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING) AS step_ns,
         last_boot_ns - min(last_boot_ns) OVER (PARTITION BY bucket_host_id ORDER BY bucket_unix_ns
                                                ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING) AS boot_step_ns,
         busy_ns - min(busy_ns) OVER (PARTITION BY bucket_host_id ORDER BY bucket_unix_ns
                                      ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING) AS busy_step_ns,
         least_available_bytes
    FROM bucket
), step AS (
  SELECT bucket_host_id AS step_host_id, last_unix_ns AS step_unix_ns, step_ns, busy_step_ns, least_available_bytes
    FROM paired
   WHERE step_ns > 0 AND step_ns <= 2 * 60000000000 AND abs(step_ns - boot_step_ns) <= 30000000000
), peak AS (
  SELECT step_host_id AS peak_host_id, min(step_unix_ns - step_ns) AS first_unix_ns, max(step_unix_ns) AS last_unix_ns,
         sum(step_ns) AS all_ns, max(1.0 * busy_step_ns / step_ns) AS most_cores,
         min(least_available_bytes) AS least_bytes
    FROM step
   GROUP BY step_host_id
), found AS (
  SELECT h.id AS found_host_id, h.hostname AS found_hostname, h.cpu_count AS found_count,
         CAST(h.cpu_count - peak.most_cores AS BIGINT) AS free_count, peak.first_unix_ns AS first_unix_ns,
         peak.last_unix_ns AS last_unix_ns, peak.all_ns AS all_ns, peak.most_cores AS most_cores
    FROM hosts h JOIN peak ON peak.peak_host_id = h.id
   WHERE peak.all_ns >= :least_ns AND peak.most_cores >= 0 AND peak.most_cores < h.cpu_count
)
SELECT found_host_id AS host_id, found_hostname AS hostname, first_unix_ns AS since_unix_ns,
       last_unix_ns AS until_unix_ns, 1 AS is_now,
       CASE WHEN all_ns >= 0.95 * (last_unix_ns - first_unix_ns) THEN 'certain' ELSE 'likely' END AS certainty,
       NULL AS run_id, NULL AS run, free_count AS unused_count, found_count AS cpu_count, most_cores AS peak_cores,
       all_ns AS observed_ns, free_count * all_ns AS held_cpu_ns
  FROM found
 WHERE free_count >= :least_cores
 ORDER BY free_count * all_ns DESC, found_host_id;
