-- Runs that are over, of those that `tracer runs` shows.
SELECT * FROM runs
 WHERE rev > :cursor AND end_boot_ns IS NOT NULL AND status <> 'running' AND process_count > 0
   AND kind NOT IN ('system', 'session', 'host-service')
 ORDER BY rev LIMIT :limit;
