-- Incidents of the runs that go, and those of no run.
DELETE FROM incidents
 WHERE run_id IN (SELECT id FROM temp.expiring_runs)
    OR (run_id IS NULL AND unix_ns < :before_unix_ns AND rev <= :kept_rev);
