-- Samples of all processes that go.
DELETE FROM samples
 WHERE process_id IN (SELECT id FROM processes WHERE run_id IN (SELECT id FROM temp.expiring_runs)
                       UNION ALL SELECT id FROM temp.expiring_processes);
