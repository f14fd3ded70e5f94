-- Tools of the runs that go.
DELETE FROM tools
 WHERE task_id IN (SELECT id FROM tasks WHERE run_id IN (SELECT id FROM temp.expiring_runs));
