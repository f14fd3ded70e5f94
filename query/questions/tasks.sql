-- title: Which tasks did a run have?
-- explanation: Its driver's own first, then the tasks as they began.
-- parameter: run_id run = latest; the run
-- columns: standing_tasks
-- column: id id; of the task
-- column: name text; what it is called
-- column: status text; how it ended
-- column: wall_ns duration; from its beginning to its end
-- column: cpu_ns duration; on processors
-- column: run_delay_ns duration; waiting for a processor, all threads
-- column: block_io_delay_ns duration; waiting for storage, all threads
-- column: peak_rss_bytes bytes; the most memory that a process of it had
-- column: memory_limit_bytes bytes; what its cgroup may have
-- column: process_count count; processes
SELECT * FROM standing_tasks
 WHERE host_id = :host_id AND run_id = :run_id
 ORDER BY CASE WHEN kind = 'main' THEN 0 ELSE 1 END, begin_boot_ns, id;
