-- How many runs a list of runs has without its limit. Parameters as in runs.sql.
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
)
SELECT count(*) AS row_count FROM latest
 WHERE (:status IS NULL OR latest_key IS NULL OR latest_id IN (SELECT whole_id FROM whole))
   AND (latest_key IS NULL
        OR latest_id NOT IN (SELECT id FROM joined_runs
                              WHERE id <> joined_id
                                AND run_key IN (SELECT latest_key FROM latest WHERE latest_key IS NOT NULL)));
