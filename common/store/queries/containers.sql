-- The containers that a run started, or that it or a task of it ran in.
-- :run_id the run.
SELECT * FROM containers
 WHERE run_id = :run_id
    OR id IN (SELECT container_id FROM runs WHERE id = :run_id)
    OR id IN (SELECT container_id FROM tasks WHERE run_id = :run_id)
 ORDER BY started_unix_ns, id;
