-- Closes the open tools, whose processes are closed too: see close_processes.sql.
UPDATE tools SET rev = next_rev(), living_count = 0, end_boot_ns = max(begin_boot_ns, :boot_ns)
 WHERE end_boot_ns IS NULL AND (:run_id IS NULL OR run_id = :run_id);
