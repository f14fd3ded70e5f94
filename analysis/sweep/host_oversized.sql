-- title: Which hosts could be a smaller instance type?
-- explanation: Hosts whose busiest minute and largest use of memory, with some headroom, fit into a smaller instance
--   type. Only types of other hosts here are considered, since their sizes are known: those of the same architecture,
--   with a GPU in use if this type's is, else without; of those, the smallest that fits, a core weighing as much as
--   9 GiB. tracer sweep counts the difference of the prices, and leaves out what would not be cheaper. Peaks within a
--   minute are not seen.
-- finding: sweep
-- parameter: since_unix_ns time = 7d; only what was seen from then on
-- parameter: least_ns duration = 30h; minimum time watched; source: AWS Compute Optimizer needs 30 hours
-- parameter: headroom_share share = 15%; what the smaller type must have beyond the peak; source: our
--   proposal
-- column: instance_type text; its type
-- column: smaller_type text; the type that would have done
-- column: smaller_count count; its processors
-- column: smaller_bytes bytes; its memory
-- column: cpu_count count; processors now
-- column: memory_bytes bytes; memory now
-- column: peak_cores number; cores in use in the busiest minute
-- column: peak_bytes bytes; most memory in use
-- column: observed_ns duration; time watched
-- column: held_cpu_ns duration; time of the processors that it has more
-- column: held_byte_seconds byte_seconds; the memory that it has more times that time
-- subject: hostname
-- impact: cpu = held_cpu_ns, memory = held_byte_seconds
-- sentence: {hostname} ({instance_type}, {cpu_count} processor(s), {memory_bytes}) used at most {peak_cores} cores and
--   {peak_bytes} in {observed_ns}
-- advice: {smaller_type} ({smaller_count} processors, {smaller_bytes}) would have held every minute.
WITH watched AS (
  SELECT host_id AS watched_host_id, min(last_unix_ns - covered_ns) AS first_unix_ns, max(last_unix_ns) AS until_unix_ns,
         sum(covered_ns) AS all_ns, 0.001 * max(most_core_milli) AS most_cores,
         min(least_memory_available_bytes) AS least_bytes
    FROM host_activity
   WHERE begin_unix_ns >= :since_unix_ns
   GROUP BY host_id
), gpu AS (
  SELECT host_id AS gpu_host_id FROM gpu_processes
   WHERE host_id IN (SELECT id FROM hosts WHERE cloud_instance_type IS NOT NULL OR vendor = 'Amazon EC2')
     AND (end_boot_ns IS NULL OR started_unix_ns + (end_boot_ns - begin_boot_ns) >= :since_unix_ns)
), typed AS MATERIALIZED (
  SELECT id AS typed_host_id, hostname AS typed_hostname, cpu_count AS typed_count, memory_bytes AS typed_bytes,
         coalesce(cloud_instance_type, CASE WHEN vendor = 'Amazon EC2' THEN product END)
           AS typed_name, machine AS typed_machine,
         CASE WHEN id IN (SELECT gpu_host_id FROM gpu) THEN 1 ELSE 0 END AS typed_gpu
    FROM hosts
), owned AS ( -- a host with what its type is
  SELECT typed_host_id, typed_hostname, typed_count, typed_bytes, typed_name,
         min(typed_machine) OVER (PARTITION BY typed_name) AS own_machine,
         max(typed_gpu) OVER (PARTITION BY typed_name) AS own_gpu
    FROM typed
   WHERE typed_name IS NOT NULL
), size AS (
  SELECT typed_name AS size_name, min(typed_count) AS size_count, min(typed_bytes) AS size_bytes,
         min(typed_count) * 9663676416 + min(typed_bytes) AS size_weight, min(typed_machine) AS size_machine,
         max(typed_gpu) AS size_gpu
    FROM typed
   WHERE typed_name IS NOT NULL
   GROUP BY typed_name
), fitting AS (
  SELECT owned.typed_host_id AS host_id, owned.typed_hostname AS hostname, owned.typed_name AS instance_type,
         owned.typed_count AS cpu_count, owned.typed_bytes AS memory_bytes, watched.first_unix_ns AS since_unix_ns,
         watched.until_unix_ns AS until_unix_ns, watched.all_ns AS observed_ns, watched.most_cores AS peak_cores,
         owned.typed_bytes - watched.least_bytes AS peak_bytes, size.size_name AS smaller_type,
         size.size_count AS smaller_count, size.size_bytes AS smaller_bytes,
         row_number() OVER (PARTITION BY owned.typed_host_id ORDER BY size.size_weight, size.size_name) AS place
    FROM owned
    JOIN watched ON watched.watched_host_id = owned.typed_host_id
    CROSS JOIN size
   WHERE size.size_name <> owned.typed_name AND size.size_machine = owned.own_machine AND size.size_gpu = owned.own_gpu
     AND size.size_count <= owned.typed_count
     AND size.size_bytes <= owned.typed_bytes
     AND size.size_weight < owned.typed_count * 9663676416 + owned.typed_bytes
     AND size.size_count >= (1 + :headroom_share) * watched.most_cores
     AND size.size_bytes >= (1 + :headroom_share) * (owned.typed_bytes - watched.least_bytes)
)
SELECT host_id, hostname, since_unix_ns, until_unix_ns, 1 AS is_now,
       CASE WHEN observed_ns >= 0.95 * (until_unix_ns - since_unix_ns) THEN 'certain' ELSE 'likely' END AS certainty,
       NULL AS run_id, NULL AS run, instance_type, smaller_type, smaller_count, smaller_bytes, cpu_count, memory_bytes,
       peak_cores, peak_bytes, observed_ns, (cpu_count - smaller_count) * observed_ns AS held_cpu_ns,
       CAST(1.0 * (memory_bytes - smaller_bytes) * observed_ns / 1000000000 AS BIGINT) AS held_byte_seconds
  FROM fitting
 WHERE place = 1 AND observed_ns >= :least_ns
 ORDER BY held_cpu_ns DESC, host_id;
