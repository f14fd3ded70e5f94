-- title: How did a host's load change over time?
-- explanation: One row every ten seconds, the latest first. Counters run since the host's boot: the
--   difference between two rows is what happened in between.
-- parameter: host_id id; the host (see tracer query hosts)
-- parameter: since_unix_ns time = 1h; only samples taken at or after this time
-- parameter: until_unix_ns time = none; only samples taken before this time
-- parameter: limit count = 360; maximum number of rows
-- columns: host_samples
-- column: unix_ns time; time of the sample
-- column: cpu_user_ns duration; CPU time in user mode since boot
-- column: cpu_system_ns duration; CPU time in the kernel since boot
-- column: memory_available_bytes bytes; memory available to programs
-- column: running_count count; threads running or waiting for a processor
SELECT * FROM host_samples
 WHERE host_id = :host_id AND unix_ns >= :since_unix_ns
   AND (:until_unix_ns IS NULL OR unix_ns < :until_unix_ns)
 ORDER BY unix_ns DESC
 LIMIT :limit;
