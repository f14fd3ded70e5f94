-- Of the processes and samples that go, those that the shipper has not sent.
SELECT (SELECT count(*) FROM process_rows
         WHERE rev > :shipped_rev
           AND (tool_id IN (SELECT id FROM temp.expiring_tools)
                OR id IN (SELECT id FROM temp.expiring_processes)))
     + (SELECT count(*) FROM samples
         WHERE rev > :shipped_rev
           AND process_id IN (SELECT id FROM process_rows
                               WHERE tool_id IN (SELECT id FROM temp.expiring_tools)
                               UNION ALL SELECT id FROM temp.expiring_processes));
