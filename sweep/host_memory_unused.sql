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
WITH watched AS (
  SELECT host_id AS watched_host_id, min(last_unix_ns - covered_ns) AS first_unix_ns, max(last_unix_ns) AS until_unix_ns,
         sum(covered_ns) AS all_ns, min(least_memory_available_bytes) AS least_bytes
    FROM host_activity
   WHERE begin_unix_ns >= :since_unix_ns
   GROUP BY host_id
)
SELECT h.id AS host_id, h.hostname AS hostname, watched.first_unix_ns AS since_unix_ns,
       watched.until_unix_ns AS until_unix_ns, 1 AS is_now,
       CASE WHEN watched.all_ns >= 0.95 * (watched.until_unix_ns - watched.first_unix_ns) THEN 'certain' ELSE 'likely' END
         AS certainty,
       NULL AS run_id, NULL AS run, watched.least_bytes AS unused_bytes, h.memory_bytes AS memory_bytes,
       watched.all_ns AS observed_ns,
       CAST(1.0 * watched.least_bytes * watched.all_ns / 1000000000 AS BIGINT) AS held_byte_seconds
  FROM hosts h JOIN watched ON watched.watched_host_id = h.id
 WHERE watched.all_ns >= :least_ns AND watched.least_bytes >= :least_free_share * h.memory_bytes
 ORDER BY held_byte_seconds DESC, h.id;
