-- Runs that span hosts come together (joined_runs in views.sql): those with a key are looked for
-- time and again, and few have one.

CREATE INDEX runs_by_key ON runs (run_key) WHERE run_key IS NOT NULL;
