-- Ended containers whose run, if a run started them, is deleted. They belong to no user.
DELETE FROM containers
 WHERE rev > :first_rev AND rev <= :last_rev
   AND started_unix_ns + (end_boot_ns - begin_boot_ns) < :before_unix_ns
   AND (run_id IS NULL OR run_id NOT IN (SELECT id FROM runs))
   AND :user_id IS NULL
RETURNING rev > :shipped_rev;
