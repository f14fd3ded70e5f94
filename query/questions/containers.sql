-- title: Which containers did a run use?
-- explanation: Those that the run started, and those that it or a task of it ran in.
-- parameter: run_id run = latest; the run
-- columns: containers
-- column: id id; of the container
-- column: runtime text; what made it
-- column: name text; as the runtime calls it
-- column: image text; what it was made of
-- column: started_unix_ns time; when it began
-- column: cgroup_peak_bytes bytes; the most memory that it had
-- column: memory_limit_bytes bytes; what it may have
SELECT * FROM containers
 WHERE host_id = :host_id
   AND (run_id = :run_id
        OR id IN (SELECT container_id FROM runs WHERE host_id = :host_id AND id = :run_id)
        OR id IN (SELECT container_id FROM tasks WHERE host_id = :host_id AND run_id = :run_id))
 ORDER BY started_unix_ns, id;
