-- The runs found by expire_find_runs.sql.
DELETE FROM runs WHERE id IN (SELECT id FROM temp.expiring_runs)
RETURNING rev > :shipped_rev;
