-- title: Which processes of a run waited longest for storage?
-- explanation: Time spent waiting for block I/O, from the kernel's delay accounting, summed over all threads.
--   Without delay accounting (see tracer host) it is unknown, and the time in uninterruptible sleep is used
--   instead, which network filesystems cause too and which has the resolution of a process scan.
-- parameter: run_id run = latest; the run
-- parameter: limit count = 20; maximum number of processes
-- column: id id; the process
-- column: block_io_delay_ns duration; time waiting for block I/O
-- column: uninterruptible_ns duration; time in uninterruptible sleep
-- column: wall_ns duration; wall time from start to end
-- column: read_bytes bytes; bytes read from storage
-- column: write_bytes bytes; bytes written to storage
-- column: program text; the program
-- column: arguments arguments; command line
SELECT id, block_io_delay_ns, uninterruptible_ns, end_boot_ns - begin_boot_ns AS wall_ns, read_bytes, write_bytes,
       program, arguments
  FROM processes
 WHERE host_id = :host_id AND coalesce(block_io_delay_ns, uninterruptible_ns) > 0
   AND tool_id IN (SELECT id FROM tools
                    WHERE host_id = :host_id
                      AND task_id IN (SELECT id FROM tasks WHERE host_id = :host_id AND run_id = :run_id))
 ORDER BY coalesce(block_io_delay_ns, uninterruptible_ns) DESC, id
 LIMIT :limit;
