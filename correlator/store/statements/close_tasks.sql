-- Closes the open tasks, whose processes are closed too: see close_processes.sql.
UPDATE tasks SET rev = next_rev(), living_count = 0, end_boot_ns = max(begin_boot_ns, :boot_ns),
       status = CASE status WHEN 'running' THEN 'ended' ELSE status END
 WHERE end_boot_ns IS NULL AND (:run_id IS NULL OR run_id = :run_id);
