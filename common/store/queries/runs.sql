-- Which runs were there? Latest first.
-- :since_unix_ns begun at or after; :with_system 1 shows the system's own and login
-- sessions too; :user_id of this user, NULL: of any; :name whose name contains it, NULL:
-- any; :host of the host of this name, NULL: of any; :limit rows.
SELECT * FROM standing_runs
 WHERE started_unix_ns >= :since_unix_ns
   AND (:with_system = 1 OR kind NOT IN ('system', 'session'))
   AND (:user_id IS NULL OR user_id = :user_id)
   AND (:name IS NULL OR instr(name, :name) > 0)
   AND (:host IS NULL OR host = :host)
 ORDER BY started_unix_ns DESC, id
 LIMIT :limit;
