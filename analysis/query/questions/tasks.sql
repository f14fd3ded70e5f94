-- title: Which tasks did a run have?
-- explanation: The driver's own task first, then the others in order of start.
-- parameter: run_id run = latest; the run
-- columns: standing_tasks
-- column: id id; the task
-- column: name text; name of the task
-- column: status text; how it ended
-- column: wall_ns duration; wall time from start to end
-- column: cpu_ns duration; CPU time
-- column: run_delay_ns duration; time waiting for a processor, all threads
-- column: block_io_delay_ns duration; time waiting for storage, all threads
-- column: peak_rss_bytes bytes; peak memory of any process
-- column: gpu_busy_ns duration?; time that GPUs worked, as a sampler reports it
-- column: gpu_peak_bytes bytes?; largest GPU memory of any process
-- column: memory_limit_bytes bytes; memory limit of its cgroup
-- column: process_count count; processes
SELECT * FROM standing_tasks
 WHERE host_id = :host_id AND run_id = :run_id
 ORDER BY CASE WHEN kind = 'main' THEN 0 ELSE 1 END, begin_boot_ns, id;
