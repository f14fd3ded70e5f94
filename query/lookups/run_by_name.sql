-- The latest run of a name.
-- :name the whole name.
SELECT * FROM standing_runs
 WHERE name = :name
 ORDER BY started_unix_ns DESC, id
 LIMIT 1;
