-- The latest run that is not one of the system's own and began after the probe.
-- :host, :user_id only those on this host, of this user; NULL: any.
SELECT * FROM standing_runs
 WHERE kind NOT IN ('system', 'session', 'host-service', 'found')
   AND (:host IS NULL OR host = :host) AND (:user_id IS NULL OR user_id = :user_id)
 ORDER BY started_unix_ns DESC, id
 LIMIT 1;
