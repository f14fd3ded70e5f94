-- Runs that live on for ever (the system's own) must not keep every process they had:
-- those that ended long ago go, a bounded number at a time. The totals stay.
INSERT INTO temp.expiring_processes (id)
SELECT p.id
  FROM runs r JOIN processes p ON p.run_id = r.id
 WHERE r.end_boot_ns IS NULL AND p.end_boot_ns IS NOT NULL
   AND p.started_unix_ns + (p.end_boot_ns - p.begin_boot_ns) < :before_unix_ns
 LIMIT 100000;
