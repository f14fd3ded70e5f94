-- The tasks with a given name, the latest first.
-- :name the complete name. At most 20.
SELECT * FROM standing_tasks
 WHERE name = :name
 ORDER BY started_unix_ns DESC, id
 LIMIT 20;
