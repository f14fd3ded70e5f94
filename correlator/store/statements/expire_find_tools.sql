-- Tools of the runs to delete.
INSERT INTO temp.expiring_tools (id)
SELECT id FROM tools
 WHERE task_id IN (SELECT id FROM tasks WHERE run_id IN (SELECT id FROM temp.expiring_runs));
