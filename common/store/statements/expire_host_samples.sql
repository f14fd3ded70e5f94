-- Old samples of the host.
DELETE FROM host_samples
 WHERE rev > :first_rev AND rev <= :last_rev AND unix_ns < :before_unix_ns
RETURNING rev > :shipped_rev;
