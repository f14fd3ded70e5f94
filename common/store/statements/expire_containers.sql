-- Containers that ended long ago and whose run, if one started them, is gone.
DELETE FROM containers
 WHERE started_unix_ns + (end_boot_ns - begin_boot_ns) < :before_unix_ns AND rev <= :kept_rev
   AND (run_id IS NULL OR run_id NOT IN (SELECT id FROM runs));
