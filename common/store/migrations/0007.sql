-- Labels of tasks, failed processes and retries, lower bounds, and clusters.

ALTER TABLE hosts ADD COLUMN cluster TEXT; -- text; cluster of this host, within which keys of jobs are unique, NULL: not set; --cluster, /etc/tracer/cluster, slurm.conf
ALTER TABLE runs ADD COLUMN partial_count INTEGER; -- count; processes with partial = 1; processes
ALTER TABLE tasks ADD COLUMN label TEXT; -- text; the engine's own id, which distinguishes it from tasks of the same name; rules
ALTER TABLE tasks ADD COLUMN retried_by_id INTEGER; -- id; tasks.id of the next attempt at the same work if this one failed; model
ALTER TABLE tasks ADD COLUMN partial_count INTEGER; -- count; processes with partial = 1; processes
ALTER TABLE tools ADD COLUMN partial_count INTEGER; -- count; processes with partial = 1; processes
ALTER TABLE process_rows ADD COLUMN failed INTEGER;
ALTER TABLE process_rows ADD COLUMN partial INTEGER;
ALTER TABLE incidents ADD COLUMN fatal INTEGER; -- 0 or 1; whether its task failed because of it; model
