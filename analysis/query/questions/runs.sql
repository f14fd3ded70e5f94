-- title: Which runs were there?
-- explanation: The latest first. A run that several hosts share is represented by the part that began
--   first.
-- parameter: since_unix_ns time = 1970-01-02; only runs that began at or after this time
-- parameter: until_unix_ns time = none; only runs that began before this time
-- parameter: with_system flag = no; include the system's own runs and login sessions
-- parameter: user_id user = none; only runs of this user
-- parameter: name text = none; only runs whose name contains this text
-- parameter: status text = none; only runs with this status, the worst of the parts if several hosts share it
-- parameter: host text = none; only runs with a part on the host of this name
-- parameter: limit count = 20; maximum number of runs
-- parameter: candidate_limit count = 1000000; number of the latest parts to search
-- columns: standing_runs
-- column: id id; the run
-- column: started_unix_ns time; start time
-- column: user_id user; who started it
-- column: name text; name of the run
-- column: status text; how it ended
-- column: wall_ns duration; wall time from start to end
-- column: cpu_ns duration; CPU time
-- column: peak_rss_bytes bytes; peak memory of any process
-- column: gpu_busy_ns duration?; time that GPUs worked, as a sampler reports it
-- column: gpu_peak_bytes bytes?; largest GPU memory of any process
-- column: task_count count; tasks
-- column: failed_count count; processes that failed
-- column: host text; where it ran

-- All columns are read, and keys compared, only for the latest parts. A result of fewer than :limit rows
-- therefore does not mean that there are no earlier runs.
WITH part AS ( -- of runs with a key, of which one part has that status
  SELECT id AS part_id, status AS part_status,
         CASE status WHEN 'running' THEN 4 WHEN 'failed' THEN 3 WHEN 'killed' THEN 2 WHEN 'ended' THEN 1 ELSE 0 END AS part_place
    FROM standing_runs
   WHERE run_key IN (SELECT run_key FROM standing_runs WHERE status = :status)
), joined AS (
  SELECT id AS joined_part_id, joined_id AS whole_id FROM joined_runs
   WHERE run_key IN (SELECT run_key FROM standing_runs WHERE status = :status)
), whole AS ( -- the worst status counts
  SELECT joined.whole_id FROM joined JOIN part ON part.part_id = joined.joined_part_id
   GROUP BY joined.whole_id
  HAVING max(part.part_place) = max(CASE WHEN part.part_status = :status THEN part.part_place END)
), latest AS (
  SELECT host_id AS latest_host_id, id AS latest_id, run_key AS latest_key FROM standing_runs
   WHERE started_unix_ns >= :since_unix_ns
     AND (:until_unix_ns IS NULL OR started_unix_ns < :until_unix_ns)
     AND (:with_system = 1 OR kind NOT IN ('system', 'session', 'host-service'))
     AND (:user_id IS NULL OR user_id = :user_id)
     AND (:name IS NULL OR instr(name, :name) > 0)
     AND (:status IS NULL OR run_key IS NOT NULL OR status = :status)
     AND (:host IS NULL OR host = :host
          OR id IN (SELECT joined_id FROM joined_runs
                     WHERE host = :host
                       AND run_key IN (SELECT run_key FROM standing_runs WHERE host = :host)))
   ORDER BY started_unix_ns DESC, id
   LIMIT :candidate_limit
)
SELECT * FROM standing_runs
 WHERE started_unix_ns >= :since_unix_ns
   AND (host_id, id) IN (SELECT latest_host_id, latest_id FROM latest)
   AND (:status IS NULL OR run_key IS NULL OR id IN (SELECT whole_id FROM whole))
   AND (run_key IS NULL
        OR id NOT IN (SELECT id FROM joined_runs
                       WHERE id <> joined_id AND run_key IN (SELECT latest_key FROM latest)))
 ORDER BY started_unix_ns DESC, id
 LIMIT :limit;
