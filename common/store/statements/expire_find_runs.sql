-- Ended runs to delete, the oldest first.
INSERT INTO temp.expiring_runs (id)
SELECT id FROM runs
 WHERE end_boot_ns IS NOT NULL
   AND started_unix_ns + (end_boot_ns - begin_boot_ns) < :before_unix_ns AND rev <= :kept_rev
 ORDER BY started_unix_ns, id
 LIMIT :limit;
