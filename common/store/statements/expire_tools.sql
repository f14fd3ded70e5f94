-- Tools of the runs that go.
DELETE FROM tools WHERE id IN (SELECT id FROM temp.expiring_tools)
RETURNING rev > :shipped_rev;
