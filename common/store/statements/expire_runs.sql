-- The runs themselves.
DELETE FROM runs WHERE id IN (SELECT id FROM temp.expiring_runs)
RETURNING rev > :shipped_rev;
