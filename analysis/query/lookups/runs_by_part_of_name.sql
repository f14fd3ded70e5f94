-- The latest run of each name that contains a text, names that begin with it first.
-- :name the text; :limit the maximum number of rows.
WITH named AS (
  SELECT name, max(started_unix_ns) AS latest_unix_ns FROM standing_runs
   WHERE instr(name, :name) > 0
   GROUP BY name
)
SELECT * FROM standing_runs
 WHERE (name, started_unix_ns) IN (SELECT name, latest_unix_ns FROM named)
 ORDER BY CASE WHEN instr(name, :name) = 1 THEN 0 ELSE 1 END, started_unix_ns DESC, id
 LIMIT :limit;
