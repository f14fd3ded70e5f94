-- Runs in progress, by host, user and name, for tracer metrics: of each host those with the most CPU time, and the sum of
-- all others, without user and name. A memory share is the largest of any run: of others too.
-- :seen_unix_ns hosts not seen since then are left out: what runs there is unknown; :limit how many of each host;
-- :host only the hosts of this name, :user_id only runs of this user, NULL: all.
WITH stall AS (
  SELECT host_id AS stall_host_id, run_id AS stall_run_id, count(DISTINCT process_id) AS stall_count
    FROM incidents
   WHERE kind IN ('stuck', 'idle') AND end_boot_ns IS NULL
   GROUP BY host_id, run_id
), named AS (
  SELECT h.cluster AS of_cluster, h.hostname AS of_host, r.user_id AS of_user_id, r.name AS of_name, count(*) AS runs,
         sum(r.living_count) AS processes, sum(r.cpu_ns) AS cpu, sum(r.core_limit_milli) AS allowed,
         sum(r.peak_memory_bytes) AS memory,
         max(1.0 * r.concurrent_memory_bytes / nullif(r.memory_limit_bytes, 0)) AS filled,
         sum(r.read_bytes) AS was_read, sum(r.write_bytes) AS was_written, sum(r.gpu_busy_ns) AS gpu,
         coalesce(sum(stall.stall_count), 0) AS stalled
    FROM work_runs r
    JOIN hosts h ON h.id = r.host_id
    LEFT JOIN stall ON stall.stall_host_id = r.host_id AND stall.stall_run_id = r.id
   WHERE r.end_boot_ns IS NULL AND h.last_seen_unix_ns >= :seen_unix_ns
     AND (:host IS NULL OR h.hostname = :host) AND (:user_id IS NULL OR r.user_id = :user_id)
   GROUP BY h.cluster, h.hostname, r.user_id, r.name
), placed AS (
  SELECT *, row_number() OVER (PARTITION BY of_cluster, of_host ORDER BY cpu DESC, coalesce(of_user_id, -1), of_name)
              AS place
    FROM named
)
SELECT of_cluster AS cluster, of_host AS host, CASE WHEN place <= :limit THEN of_user_id END AS user_id,
       CASE WHEN place <= :limit THEN of_name END AS run, sum(runs) AS run_count, sum(processes) AS process_count,
       sum(cpu) AS cpu_ns, sum(allowed) AS core_limit_milli, sum(memory) AS memory_bytes,
       max(filled) AS memory_limit_share, sum(was_read) AS read_bytes, sum(was_written) AS write_bytes,
       sum(gpu) AS gpu_busy_ns, sum(stalled) AS stalled_count
  FROM placed
 GROUP BY of_cluster, of_host, CASE WHEN place <= :limit THEN of_user_id END, CASE WHEN place <= :limit THEN of_name END
 ORDER BY host, cluster NULLS FIRST, run NULLS LAST, user_id NULLS LAST;
