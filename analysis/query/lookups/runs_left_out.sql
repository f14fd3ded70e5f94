-- How many of the system's own runs a list of runs omits. Parameters as in runs.sql. A run that several
-- hosts share counts once per host.
SELECT count(*) AS row_count FROM standing_runs
 WHERE started_unix_ns >= :since_unix_ns
   AND (:until_unix_ns IS NULL OR started_unix_ns < :until_unix_ns)
   AND kind IN ('system', 'session', 'host-service')
   AND (:user_id IS NULL OR user_id = :user_id)
   AND (:name IS NULL OR instr(name, :name) > 0)
   AND (:status IS NULL OR status = :status)
   AND (:host IS NULL OR host = :host);
