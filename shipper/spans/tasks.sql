-- Tasks that are over, of such runs, without the run's own.
SELECT * FROM tasks
 WHERE rev > :cursor AND end_boot_ns IS NOT NULL AND status <> 'running' AND process_count > 0
   AND kind <> 'main' AND merged_into_id IS NULL
   AND EXISTS (SELECT 1 FROM runs WHERE runs.id = tasks.run_id AND runs.kind NOT IN ('system', 'session', 'host-service'))
 ORDER BY rev LIMIT :limit;
