-- Processes of the runs that go; and of runs that live on (the system's own does for ever) those
-- that ended. The totals of these stay.
INSERT INTO temp.expiring_processes (id)
SELECT p.id
  FROM temp.expiring_tools e CROSS JOIN process_rows p ON p.tool_id = e.id
 UNION ALL
SELECT p.id
  FROM process_rows p
  LEFT JOIN tools t ON t.id = p.tool_id
  LEFT JOIN runs r ON r.id = t.run_id
 WHERE p.rev > :first_rev AND p.rev <= :last_rev AND p.end_boot_ns IS NOT NULL
   AND p.started_unix_ns + (p.end_boot_ns - p.begin_boot_ns) < :before_unix_ns
   AND r.end_boot_ns IS NULL
 LIMIT :process_limit;
