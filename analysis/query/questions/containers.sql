-- title: Which containers did a run use?
-- explanation: Containers that the run started, and those in which it or one of its tasks ran.
-- parameter: run_id run = latest; the run
-- columns: containers
-- column: id id; the container
-- column: runtime text; container runtime
-- column: name text; name given by the runtime
-- column: image text; image
-- column: started_unix_ns time; start time
-- column: cgroup_peak_bytes bytes; peak memory
-- column: memory_limit_bytes bytes; memory limit
SELECT * FROM containers
 WHERE host_id = :host_id
   AND (run_id = :run_id
        OR id IN (SELECT container_id FROM runs WHERE host_id = :host_id AND id = :run_id)
        OR id IN (SELECT container_id FROM tasks WHERE host_id = :host_id AND run_id = :run_id))
 ORDER BY started_unix_ns, id;
