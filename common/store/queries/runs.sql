-- Which runs were there? Latest first. Of a run that several hosts share (joined_runs), the part
-- that began first stands for all; run_parts has the others.
-- :since_unix_ns begun at or after; :with_system 1 shows the system's own and login
-- sessions too; :user_id of this user, NULL: of any; :name whose name contains it, NULL:
-- any; :host of which a part is on the host of this name, NULL: of any; :limit rows;
-- :candidate_limit the latest parts among which they are looked for: of these alone all columns
-- are read, and the keys compared. Fewer than :limit rows say nothing of what came before them.
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
 WHERE (host_id, id) IN (SELECT latest_host_id, latest_id FROM latest)
   AND (run_key IS NULL
        OR id NOT IN (SELECT id FROM joined_runs
                       WHERE id <> joined_id AND run_key IN (SELECT latest_key FROM latest)))
 ORDER BY started_unix_ns DESC, id
 LIMIT :limit;
