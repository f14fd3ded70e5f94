-- title: Which tools did the tasks of a run use?
-- explanation: One row for each tool of each task, as they began.
-- parameter: run_id run = latest; the run
-- columns: standing_tools
-- column: id id; of the tool in its task
-- column: task_id id; the task
-- column: name text; what it is called
-- column: role text; what it is to the task
-- column: wall_ns duration; from its first process to the end of its last
-- column: cpu_ns duration; on processors
-- column: peak_rss_bytes bytes; the most memory that a process of it had
-- column: process_count count; processes
SELECT * FROM standing_tools
 WHERE host_id = :host_id
   AND task_id IN (SELECT id FROM tasks WHERE host_id = :host_id AND run_id = :run_id)
 ORDER BY begin_boot_ns, id;
