-- title: Which hosts have memory that was never touched?
-- explanation: The least memory that was available at any time: nothing needed it. The page cache counts as
--   available. Peaks between two samples, ten seconds apart, are not seen.
-- finding: sweep
-- parameter: since_unix_ns time = 7d; only what was seen from then on
-- parameter: least_ns duration = 30h; minimum time watched; source: AWS Compute Optimizer needs 30 hours
-- parameter: least_free_share share = 30%; minimum share of the memory; source: jobstats (use below 70 %)
-- column: host_id id; the host
-- column: hostname text; host name
-- column: since_unix_ns time; when it began
-- column: until_unix_ns time; when it ended, or was last seen
-- column: is_now flag; whether it went on when the host was last heard of
-- column: certainty text; certain, or likely if something in that time was not seen
-- column: run_id id; the run it is tied to; unknown if none
-- column: run text; name of that run
-- column: unused_bytes bytes; memory that was never needed
-- column: memory_bytes bytes; main memory
-- column: observed_ns duration; time watched
-- column: held_byte_seconds byte_seconds; the memory never needed times that time
-- subject: hostname
-- impact: memory = held_byte_seconds
-- sentence: {unused_bytes} of {memory_bytes} of memory of {hostname} were never needed in {observed_ns}
-- advice: Give it more work at a time, or take a machine with less memory.
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
)
SELECT h.id AS host_id, h.hostname AS hostname, peak.first_unix_ns AS since_unix_ns,
       peak.last_unix_ns AS until_unix_ns, 1 AS is_now,
       CASE WHEN peak.all_ns >= 0.95 * (peak.last_unix_ns - peak.first_unix_ns) THEN 'certain' ELSE 'likely' END
         AS certainty,
       NULL AS run_id, NULL AS run, peak.least_bytes AS unused_bytes, h.memory_bytes AS memory_bytes,
       peak.all_ns AS observed_ns,
       CAST(1.0 * peak.least_bytes * peak.all_ns / 1000000000 AS BIGINT) AS held_byte_seconds
  FROM hosts h JOIN peak ON peak.peak_host_id = h.id
 WHERE peak.all_ns >= :least_ns AND peak.least_bytes >= :least_free_share * h.memory_bytes
 ORDER BY held_byte_seconds DESC, h.id;
