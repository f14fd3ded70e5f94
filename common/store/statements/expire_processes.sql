-- Processes of the runs that go, and old ones of the runs that stay.
DELETE FROM process_rows
 WHERE tool_id IN (SELECT id FROM temp.expiring_tools)
    OR id IN (SELECT id FROM temp.expiring_processes);
