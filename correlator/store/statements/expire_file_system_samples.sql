-- Likewise of file systems.
DELETE FROM file_system_samples
 WHERE rev > :first_rev AND rev <= :last_rev AND unix_ns < :before_unix_ns
   AND :user_id IS NULL
RETURNING rev > :shipped_rev;
