-- Tasks of the runs to delete.
DELETE FROM tasks WHERE run_id IN (SELECT id FROM temp.expiring_runs)
RETURNING rev > :shipped_rev;
