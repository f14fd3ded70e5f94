-- Losses that ended long ago. They belong to no user.
DELETE FROM losses
 WHERE rev > :first_rev AND rev <= :last_rev
   AND unix_ns + (last_boot_ns - first_boot_ns) < :before_unix_ns
   AND :user_id IS NULL
RETURNING rev > :shipped_rev;
