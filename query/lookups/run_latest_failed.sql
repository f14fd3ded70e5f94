-- The latest run that failed, of those that neither are the system's own nor were there before the
-- probe.
-- No parameters.
SELECT * FROM standing_runs
 WHERE kind NOT IN ('system', 'session', 'host-service', 'found') AND status IN ('failed', 'killed')
 ORDER BY started_unix_ns DESC, id
 LIMIT 1;
