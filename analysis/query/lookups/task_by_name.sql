-- The tasks with a given name, the latest first.
-- :name the complete name; :host, :user_id only those on this host, of this user; NULL: any. At most 20.
SELECT * FROM standing_tasks
 WHERE name = :name
   AND (:host IS NULL OR host_id IN (SELECT id FROM hosts WHERE hostname = :host))
   AND (:user_id IS NULL OR run_id IN (SELECT id FROM runs WHERE user_id = :user_id))
 ORDER BY started_unix_ns DESC, id
 LIMIT 20;
