-- title: How was a host over time?
-- explanation: One row every ten seconds, the latest first. Counters grow from the host's boot on: what
--   happened between two rows is their difference.
-- parameter: host_id id; the host (tracer query hosts)
-- parameter: since_unix_ns time = 1h; from then on
-- parameter: limit count = 360; at most so many rows
-- columns: host_samples
-- column: unix_ns time; when
-- column: cpu_user_ns duration; processors in user mode, since boot
-- column: cpu_system_ns duration; processors in the kernel, since boot
-- column: memory_available_bytes bytes; memory that programs could still have
-- column: running_count count; threads running or waiting for a processor
SELECT * FROM host_samples
 WHERE host_id = :host_id AND unix_ns >= :since_unix_ns
 ORDER BY unix_ns DESC
 LIMIT :limit;
