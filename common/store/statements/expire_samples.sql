-- Samples of all processes that go.
DELETE FROM samples
 WHERE process_id IN (SELECT id FROM process_rows
                       WHERE tool_id IN (SELECT id FROM temp.expiring_tools)
                       UNION ALL SELECT id FROM temp.expiring_processes);
