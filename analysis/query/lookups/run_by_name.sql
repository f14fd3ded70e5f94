-- The latest run with a given name or key, such as ecs:0123….
-- :name the complete name or key; :host, :user_id only those on this host, of this user; NULL: any.
SELECT * FROM standing_runs
 WHERE (name = :name OR run_key = :name)
   AND (:host IS NULL OR host = :host) AND (:user_id IS NULL OR user_id = :user_id)
 ORDER BY started_unix_ns DESC, id
 LIMIT 1;
