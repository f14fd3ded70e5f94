-- The latest run that neither is the system's own nor was there before the probe.
-- No parameters.
SELECT * FROM standing_runs
 WHERE kind NOT IN ('system', 'session', 'host-service', 'found')
 ORDER BY started_unix_ns DESC, id
 LIMIT 1;
