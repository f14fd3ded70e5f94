-- The latest failed run that is not one of the system's own and began after the probe.
-- No parameters.
SELECT * FROM standing_runs
 WHERE kind NOT IN ('system', 'session', 'host-service', 'found') AND status IN ('failed', 'killed')
 ORDER BY started_unix_ns DESC, id
 LIMIT 1;
