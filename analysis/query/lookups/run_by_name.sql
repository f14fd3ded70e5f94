-- The latest run with a given name.
-- :name the complete name; :host, :user_id only those on this host, of this user; NULL: any.
SELECT * FROM standing_runs
 WHERE name = :name
   AND (:host IS NULL OR host = :host) AND (:user_id IS NULL OR user_id = :user_id)
 ORDER BY started_unix_ns DESC, id
 LIMIT 1;
