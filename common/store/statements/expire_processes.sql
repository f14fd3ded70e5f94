-- The processes themselves.
DELETE FROM process_rows WHERE id IN (SELECT id FROM temp.expiring_processes)
RETURNING rev > :shipped_rev;
