-- The processes found by expire_find_processes.sql.
DELETE FROM process_rows WHERE id IN (SELECT id FROM temp.expiring_processes)
RETURNING rev > :shipped_rev;
