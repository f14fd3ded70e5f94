-- title: Which processes of a run waited longest for storage?
-- explanation: Waiting for block I/O as the kernel's delay accounting counts it, all threads added up. Where
--   that is off (tracer host says so) it is unknown, and the time in uninterruptible sleep stands for it,
--   which network filesystems cause, too, and which is seen in steps of a process scan.
-- parameter: run_id run = latest; the run
-- parameter: limit count = 20; at most so many processes
-- column: id id; the process
-- column: block_io_delay_ns duration; waiting for block I/O
-- column: uninterruptible_ns duration; in uninterruptible sleep
-- column: wall_ns duration; from its beginning to its end
-- column: read_bytes bytes; fetched from storage
-- column: write_bytes bytes; written for storage
-- column: program text; the program
-- column: arguments arguments; its command line
SELECT id, block_io_delay_ns, uninterruptible_ns, end_boot_ns - begin_boot_ns AS wall_ns, read_bytes, write_bytes,
       program, arguments
  FROM processes
 WHERE host_id = :host_id AND coalesce(block_io_delay_ns, uninterruptible_ns) > 0
   AND tool_id IN (SELECT id FROM tools
                    WHERE host_id = :host_id
                      AND task_id IN (SELECT id FROM tasks WHERE host_id = :host_id AND run_id = :run_id))
 ORDER BY coalesce(block_io_delay_ns, uninterruptible_ns) DESC, id
 LIMIT :limit;
