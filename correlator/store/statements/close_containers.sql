-- Closes the containers that a run started: see close_processes.sql.
UPDATE containers SET rev = next_rev(), end_boot_ns = max(begin_boot_ns, :boot_ns)
 WHERE end_boot_ns IS NULL AND run_id = :run_id;
