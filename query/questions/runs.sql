-- title: Which runs were there?
-- explanation: The latest first. Of a run that several hosts share, the part that began first stands for
--   all.
-- parameter: since_unix_ns time = 1970-01-02; begun at or after
-- parameter: with_system flag = no; the system's own and login sessions too
-- parameter: user_id user = none; of this user
-- parameter: name text = none; whose name contains it
-- parameter: host text = none; of which a part is on the host of this name
-- parameter: limit count = 20; at most so many runs
-- parameter: candidate_limit count = 1000000; the latest parts among which they are looked for
-- columns: standing_runs
-- column: id id; of the run
-- column: started_unix_ns time; when it began
-- column: user_id user; who started it
-- column: name text; what it is called
-- column: status text; how it ended
-- column: wall_ns duration; from its beginning to its end
-- column: cpu_ns duration; on processors
-- column: peak_rss_bytes bytes; the most memory that a process of it had
-- column: task_count count; tasks
-- column: failed_count count; processes that failed
-- column: host text; where it ran

-- All columns are read, and keys compared, only for the latest parts. A result of fewer than :limit rows
-- therefore does not mean that there are no earlier runs.
WITH latest AS (
  SELECT host_id AS latest_host_id, id AS latest_id, run_key AS latest_key FROM standing_runs
   WHERE started_unix_ns >= :since_unix_ns
     AND (:with_system = 1 OR kind NOT IN ('system', 'session', 'host-service'))
     AND (:user_id IS NULL OR user_id = :user_id)
     AND (:name IS NULL OR instr(name, :name) > 0)
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
   AND (run_key IS NULL
        OR id NOT IN (SELECT id FROM joined_runs
                       WHERE id <> joined_id AND run_key IN (SELECT latest_key FROM latest)))
 ORDER BY started_unix_ns DESC, id
 LIMIT :limit;
