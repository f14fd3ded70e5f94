-- The host of a run, and those of all runs of its key.
-- :host_id its host; :run_key its key, NULL: none.
SELECT * FROM hosts
 WHERE id = :host_id OR id IN (SELECT host_id FROM runs WHERE run_key = :run_key)
 ORDER BY hostname, id;
