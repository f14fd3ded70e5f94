-- Closes the processes that were running at :boot_ns, of one run or (NULL) of all: `lost` if their end was
-- not observed, `left` if the observation ended first.
UPDATE process_rows SET rev = next_rev(), ended = :how, end_boot_ns = max(begin_boot_ns, :boot_ns)
 WHERE end_boot_ns IS NULL
   AND (:run_id IS NULL OR tool_id IN (SELECT id FROM tools WHERE run_id = :run_id));
