-- Which runs were there? Latest first.
-- :since_unix_ns begun at or after; :with_system 1 shows the system's own too; :limit rows.
SELECT * FROM standing_runs
 WHERE started_unix_ns >= :since_unix_ns AND (:with_system = 1 OR kind <> 'system')
 ORDER BY started_unix_ns DESC, id
 LIMIT :limit;
