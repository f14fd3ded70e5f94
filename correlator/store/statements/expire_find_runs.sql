-- Ended runs to delete, of this user or of all, or this one.
INSERT INTO temp.expiring_runs (id)
SELECT id FROM runs
 WHERE id = :run_id
    OR (rev > :first_rev AND rev <= :last_rev AND end_boot_ns IS NOT NULL
        AND started_unix_ns + (end_boot_ns - begin_boot_ns) < :before_unix_ns
        AND ifnull(user_id, -1) = coalesce(:user_id, user_id, -1));
