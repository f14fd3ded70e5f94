-- title: Which processes did a run have?
-- explanation: One row for each program that a process executed, in the order in which they began.
-- parameter: run_id run = latest; the run
-- columns: processes
-- column: id id; of the process
-- column: pid number; its number
-- column: program text; the program
-- column: arguments arguments; its command line
-- column: wall_ns duration; from its beginning to its end
-- column: cpu_ns duration; on processors
-- column: peak_rss_bytes bytes; the most memory that it had
-- column: read_bytes bytes; fetched from storage
-- column: write_bytes bytes; written for storage
-- column: exit_code number; how it ended
SELECT *, end_boot_ns - begin_boot_ns AS wall_ns FROM processes
 WHERE host_id = :host_id
   AND tool_id IN (SELECT id FROM tools
                    WHERE host_id = :host_id
                      AND task_id IN (SELECT id FROM tasks
                                       WHERE host_id = :host_id AND run_id = :run_id))
 ORDER BY begin_boot_ns, id;
