-- Processes of the runs to delete, and ended processes of runs that continue (the system run
-- never ends), of this user or of all. The totals of the latter runs are kept.
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
   AND (:user_id IS NULL
        OR :user_id = ifnull(CASE WHEN r.kind = 'system' THEN p.user_id ELSE r.user_id END, -1))
 LIMIT :process_limit;
