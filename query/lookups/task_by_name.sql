-- The tasks of a name, the latest first.
-- :name the whole name. At most 20.
SELECT * FROM standing_tasks
 WHERE name = :name
 ORDER BY started_unix_ns DESC, id
 LIMIT 20;
