-- title: Which tools did the tasks of a run use?
-- explanation: One row for each tool of each task, in order of start.
-- parameter: run_id run = latest; the run
-- columns: standing_tools
-- column: id id; the tool within its task
-- column: task_id id; the task
-- column: name text; name of the tool
-- column: role text; role of the tool in the task
-- column: wall_ns duration; wall time from the start of its first process to the end of its last
-- column: cpu_ns duration; CPU time
-- column: peak_rss_bytes bytes; peak memory of any process
-- column: gpu_busy_ns duration?; time that GPUs worked, as a sampler reports it
-- column: gpu_peak_bytes bytes?; largest GPU memory of any process
-- column: process_count count; processes
SELECT * FROM standing_tools
 WHERE host_id = :host_id
   AND task_id IN (SELECT id FROM tasks WHERE host_id = :host_id AND run_id = :run_id)
 ORDER BY begin_boot_ns, id;
