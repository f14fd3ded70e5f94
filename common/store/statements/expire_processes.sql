-- Processes of the runs that go, and old ones of the runs that stay.
DELETE FROM processes
 WHERE run_id IN (SELECT id FROM temp.expiring_runs)
    OR id IN (SELECT id FROM temp.expiring_processes);
