-- Closes the containers that a run started, or (NULL) those of all runs: see close_processes.sql.
UPDATE containers SET rev = next_rev(), end_boot_ns = max(begin_boot_ns, :boot_ns)
 WHERE end_boot_ns IS NULL AND (:run_id IS NULL OR run_id = :run_id);
