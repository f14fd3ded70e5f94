-- Tools of the runs to delete.
DELETE FROM tools WHERE id IN (SELECT id FROM temp.expiring_tools)
RETURNING rev > :shipped_rev;
