-- The latest run of each name that contains a text, names that begin with it first.
-- :name the text; :limit the maximum number of rows; :host, :user_id only those on this host, of this user; NULL: any.
WITH named AS (
  SELECT name, max(started_unix_ns) AS latest_unix_ns FROM standing_runs
   WHERE instr(name, :name) > 0
     AND (:host IS NULL OR host = :host) AND (:user_id IS NULL OR user_id = :user_id)
   GROUP BY name
)
SELECT * FROM standing_runs
 WHERE (name, started_unix_ns) IN (SELECT name, latest_unix_ns FROM named)
   AND (:host IS NULL OR host = :host) AND (:user_id IS NULL OR user_id = :user_id)
 ORDER BY CASE WHEN instr(name, :name) = 1 THEN 0 ELSE 1 END, started_unix_ns DESC, id
 LIMIT :limit;
