-- The host of a run, and the hosts of all runs with the same key.
-- :host_id its host; :run_key its key, NULL if it has none.
SELECT * FROM hosts
 WHERE id = :host_id OR id IN (SELECT host_id FROM runs WHERE run_key = :run_key)
 ORDER BY hostname, id;
