-- Containers that ended, and whose run, if one started them, is gone.
DELETE FROM containers
 WHERE rev > :first_rev AND rev <= :last_rev
   AND started_unix_ns + (end_boot_ns - begin_boot_ns) < :before_unix_ns
   AND (run_id IS NULL OR run_id NOT IN (SELECT id FROM runs))
RETURNING rev > :shipped_rev;
