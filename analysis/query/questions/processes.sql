-- title: Which processes did a run have?
-- explanation: One row for each program that a process executed, in the order in which they began.
-- parameter: run_id run = latest; the run
-- columns: processes
-- column: id id; the process
-- column: pid number; process id
-- column: program text; the program
-- column: arguments arguments; command line
-- column: wall_ns duration; wall time from start to end
-- column: cpu_ns duration; CPU time
-- column: peak_rss_bytes bytes; peak memory
-- column: gpu_busy_ns duration?; time that GPUs worked, as a sampler reports it
-- column: gpu_peak_bytes bytes?; largest GPU memory
-- column: read_bytes bytes; bytes read from storage
-- column: write_bytes bytes; bytes written to storage
-- column: exit_code number; exit code
SELECT *, end_boot_ns - begin_boot_ns AS wall_ns FROM processes
 WHERE host_id = :host_id
   AND tool_id IN (SELECT id FROM tools
                    WHERE host_id = :host_id
                      AND task_id IN (SELECT id FROM tasks
                                       WHERE host_id = :host_id AND run_id = :run_id))
 ORDER BY begin_boot_ns, id;
