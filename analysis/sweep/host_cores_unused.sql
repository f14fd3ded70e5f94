-- title: Which hosts have processors that were never used?
-- explanation: The processors beyond those that the busiest minute needed. Peaks within a minute are not seen.
-- finding: sweep
-- parameter: since_unix_ns time = 7d; only what was seen from then on
-- parameter: least_ns duration = 30h; minimum time watched; source: AWS Compute Optimizer needs 30 hours
-- parameter: least_cores count = 1; minimum number of unused processors
-- parameter: least_free_share share = 30%; minimum share of the processors; source: our proposal, the share of
--   host_memory_unused
-- column: unused_count count; processors that were never used
-- column: enough_count count; processors that the busiest minute needed
-- column: cpu_count count; processors
-- column: peak_cores number; cores in use in the busiest minute
-- column: observed_ns duration; time watched
-- column: held_cpu_ns duration; time of the unused processors
-- subject: hostname
-- impact: cpu = held_cpu_ns
-- sentence: {unused_count} of {cpu_count} processors of {hostname} were never used in {observed_ns}: the busiest
--   minute used {peak_cores}
-- advice: Next time, take a machine with fewer processors: {enough_count} would have been enough.
WITH watched AS (
  SELECT host_id AS watched_host_id, min(last_unix_ns - covered_ns) AS first_unix_ns, max(last_unix_ns) AS until_unix_ns,
         sum(covered_ns) AS all_ns, 0.001 * max(most_core_milli) AS most_cores
    FROM host_activity
   WHERE begin_unix_ns >= :since_unix_ns
   GROUP BY host_id
), found AS (
  SELECT h.id AS found_host_id, h.hostname AS found_hostname, h.cpu_count AS found_count,
         CAST(h.cpu_count - watched.most_cores AS BIGINT) AS free_count, watched.first_unix_ns AS first_unix_ns,
         watched.until_unix_ns AS last_unix_ns, watched.all_ns AS all_ns, watched.most_cores AS most_cores
    FROM hosts h JOIN watched ON watched.watched_host_id = h.id
   WHERE watched.all_ns >= :least_ns AND watched.most_cores >= 0 AND watched.most_cores < h.cpu_count
)
SELECT found_host_id AS host_id, found_hostname AS hostname, first_unix_ns AS since_unix_ns,
       last_unix_ns AS until_unix_ns, 1 AS is_now,
       CASE WHEN all_ns >= 0.95 * (last_unix_ns - first_unix_ns) THEN 'certain' ELSE 'likely' END AS certainty,
       NULL AS run_id, NULL AS run, free_count AS unused_count,
       found_count - free_count AS enough_count, found_count AS cpu_count, most_cores AS peak_cores,
       all_ns AS observed_ns, free_count * all_ns AS held_cpu_ns
  FROM found
 WHERE free_count >= :least_cores AND free_count >= :least_free_share * found_count
 ORDER BY free_count * all_ns DESC, found_host_id;
