-- Incidents of the runs to delete, and old ones of runs that continue, of this user or of all, or of no run.
DELETE FROM incidents
 WHERE run_id IN (SELECT id FROM temp.expiring_runs)
    OR (rev > :first_rev AND rev <= :last_rev AND unix_ns < :before_unix_ns
        AND NOT EXISTS (SELECT 1 FROM runs r
                         WHERE r.id = incidents.run_id
                           AND (r.end_boot_ns IS NOT NULL
                                OR ifnull(r.user_id, -1) <> coalesce(:user_id, r.user_id, -1)))
        AND (run_id IS NOT NULL OR :user_id IS NULL))
RETURNING rev > :shipped_rev;
