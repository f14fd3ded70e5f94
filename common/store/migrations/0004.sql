-- For runs that span hosts (joined_runs in views.sql): runs with a key are looked up often,
-- and few runs have one.

CREATE INDEX runs_by_key ON runs (run_key) WHERE run_key IS NOT NULL;
