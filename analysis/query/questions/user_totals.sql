-- title: How much did each user use?
-- explanation: Runs by the user who started them, without the system's own. Runs still in progress count
--   with what they have used so far.
-- needs: all users
-- parameter: since_unix_ns time = 7d; only runs that began at or after this time
-- column: user_id user; user who started the runs
-- column: run_count count; runs
-- column: failed_count count; runs that failed or were killed
-- column: cpu_ns duration; CPU time
-- column: cpu_share share; share of the CPU time of all users
-- column: wall_ns duration; total wall time of the runs that ended
-- column: gpu_busy_ns duration?; time that GPUs worked, as a sampler reports it
-- column: read_bytes bytes; bytes read from storage
-- column: write_bytes bytes; bytes written to storage
WITH total AS (
  SELECT user_id AS run_user_id, count(*) AS run_count,
         sum(CASE WHEN status IN ('failed', 'killed') THEN 1 ELSE 0 END) AS failed_count, sum(cpu_ns) AS cpu_ns,
         sum(wall_ns) AS wall_ns, sum(gpu_busy_ns) AS gpu_busy_ns, sum(read_bytes) AS read_bytes,
         sum(write_bytes) AS write_bytes
    FROM standing_runs
   WHERE started_unix_ns >= :since_unix_ns AND kind NOT IN ('system', 'session', 'host-service')
   GROUP BY user_id
), whole AS (
  SELECT sum(cpu_ns) AS all_cpu_ns FROM total
)
SELECT total.run_user_id AS user_id, total.run_count AS run_count, total.failed_count AS failed_count,
       total.cpu_ns AS cpu_ns, 1.0 * total.cpu_ns / nullif(whole.all_cpu_ns, 0) AS cpu_share,
       total.wall_ns AS wall_ns, total.gpu_busy_ns AS gpu_busy_ns, total.read_bytes AS read_bytes,
       total.write_bytes AS write_bytes
  FROM total CROSS JOIN whole
 ORDER BY total.cpu_ns DESC NULLS LAST, total.run_user_id;
