-- title: Which hosts have memory that stayed empty?
-- explanation: Memory that neither programs nor the page cache ever filled. Programs: the least that was available in
--   all of the time. Page cache: the least that was free in the last day, as the cache of a host that stays up keeps
--   what it has read. How much of its cache a host needs is not known, so one whose cache fills its memory is not
--   listed. Peaks between two samples, ten seconds apart, are not seen.
-- finding: sweep
-- parameter: since_unix_ns time = 7d; only what was seen from then on
-- parameter: least_ns duration = 30h; minimum time watched; source: AWS Compute Optimizer needs 30 hours
-- parameter: least_free_share share = 30%; minimum share of the memory; source: jobstats (use below 70 %)
-- column: certainty text; certain, or likely if something in that time was not seen, or it booted in that time
-- column: unused_bytes bytes; memory that stayed empty
-- column: enough_bytes bytes; the rest
-- column: peak_memory_bytes bytes; most memory that could not be reclaimed at once, of programs and the kernel
-- column: cache_bytes bytes; most page cache in the last day
-- column: memory_bytes bytes; main memory
-- column: observed_ns duration; time watched
-- column: held_byte_seconds byte_seconds; the memory that stayed empty times that time
-- subject: hostname
-- impact: memory = held_byte_seconds
-- sentence: {unused_bytes} of {memory_bytes} of memory of {hostname} stayed empty in {observed_ns}: programs needed at
--   most {peak_memory_bytes}, and files that they had read filled up to {cache_bytes} in the last day
-- advice: Next time, take a machine with {enough_bytes} of memory.
WITH watched AS (
  SELECT host_id AS watched_host_id, min(last_unix_ns - covered_ns) AS first_unix_ns, max(last_unix_ns) AS until_unix_ns,
         sum(covered_ns) AS all_ns, min(least_memory_available_bytes) AS least_bytes
    FROM host_activity
   WHERE begin_unix_ns >= :since_unix_ns
   GROUP BY host_id
), latest AS ( -- of the last day
  SELECT host_id AS latest_host_id, min(least_memory_free_bytes) AS free_bytes, max(most_memory_cache_bytes) AS cache_bytes,
         count(*) - count(least_memory_free_bytes) AS unknown_count
    FROM host_activity
   WHERE begin_unix_ns >= :since_unix_ns
     AND begin_unix_ns >= (SELECT max(last_seen_unix_ns) FROM hosts) - 86400000000000
   GROUP BY host_id
), found AS (
  SELECT watched_host_id AS found_host_id, first_unix_ns, until_unix_ns AS last_unix_ns, all_ns, least_bytes,
         cache_bytes AS most_cache_bytes, CASE WHEN free_bytes < least_bytes THEN free_bytes ELSE least_bytes END AS empty_bytes
    FROM watched JOIN latest ON latest.latest_host_id = watched.watched_host_id
   WHERE free_bytes >= 0 AND unknown_count = 0 -- a lake did not keep it in earlier releases
)
SELECT h.id AS host_id, h.hostname AS hostname, found.first_unix_ns AS since_unix_ns,
       found.last_unix_ns AS until_unix_ns, 1 AS is_now,
       CASE WHEN found.all_ns >= 0.95 * (found.last_unix_ns - found.first_unix_ns)
                 AND h.boot_unix_ns <= found.first_unix_ns THEN 'certain' ELSE 'likely' END AS certainty,
       NULL AS run_id, NULL AS run, found.empty_bytes AS unused_bytes, h.memory_bytes - found.empty_bytes AS enough_bytes,
       h.memory_bytes - found.least_bytes AS peak_memory_bytes, found.most_cache_bytes AS cache_bytes,
       h.memory_bytes AS memory_bytes, found.all_ns AS observed_ns,
       CAST(1.0 * found.empty_bytes * found.all_ns / 1000000000 AS BIGINT) AS held_byte_seconds
  FROM hosts h JOIN found ON found.found_host_id = h.id
 WHERE found.all_ns >= :least_ns AND found.empty_bytes >= :least_free_share * h.memory_bytes
 ORDER BY held_byte_seconds DESC, h.id;
