-- The containers that a run started, or that it or a task of it ran in.
-- :run_id the run; :host_id its host.
SELECT * FROM containers
 WHERE host_id = :host_id
   AND (run_id = :run_id
        OR id IN (SELECT container_id FROM runs WHERE host_id = :host_id AND id = :run_id)
        OR id IN (SELECT container_id FROM tasks WHERE host_id = :host_id AND run_id = :run_id))
 ORDER BY started_unix_ns, id;
