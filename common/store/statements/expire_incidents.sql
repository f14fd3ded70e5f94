-- Incidents of the runs to delete, and old ones of runs that continue or of no run.
DELETE FROM incidents
 WHERE run_id IN (SELECT id FROM temp.expiring_runs)
    OR (rev > :first_rev AND rev <= :last_rev AND unix_ns < :before_unix_ns
        AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.id = incidents.run_id AND r.end_boot_ns IS NOT NULL))
RETURNING rev > :shipped_rev;
