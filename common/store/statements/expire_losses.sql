-- Losses that ended long ago.
DELETE FROM losses
 WHERE rev > :first_rev AND rev <= :last_rev
   AND unix_ns + (last_boot_ns - first_boot_ns) < :before_unix_ns
RETURNING rev > :shipped_rev;
