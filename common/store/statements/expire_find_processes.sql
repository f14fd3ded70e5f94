-- Runs that live on for ever (the system's own) must not keep every process they had:
-- those that ended long ago go, a bounded number at a time. The totals stay.
INSERT INTO temp.expiring_processes (id)
SELECT p.id
  FROM runs r JOIN tasks k ON k.run_id = r.id JOIN tools t ON t.task_id = k.id
  JOIN process_rows p ON p.tool_id = t.id
 WHERE r.end_boot_ns IS NULL AND p.end_boot_ns IS NOT NULL
   AND p.started_unix_ns + (p.end_boot_ns - p.begin_boot_ns) < :before_unix_ns AND p.rev <= :kept_rev
 LIMIT 100000;
