-- The latest run with a given name.
-- :name the complete name.
SELECT * FROM standing_runs
 WHERE name = :name
 ORDER BY started_unix_ns DESC, id
 LIMIT 1;
