-- Labels of tasks, failed processes and retries, lower bounds, and clusters.

ALTER TABLE hosts ADD COLUMN cluster TEXT; -- text; the cluster that this host is in, keys of jobs are unique within it, NULL: none is set; --cluster, /etc/tracer/cluster, slurm.conf
ALTER TABLE runs ADD COLUMN partial_count INTEGER; -- count; of its processes with partial = 1; processes
ALTER TABLE tasks ADD COLUMN label TEXT; -- text; tells it from tasks of the same name: the engine's id, or the argument that differs; model
ALTER TABLE tasks ADD COLUMN retried_by_id INTEGER; -- id; tasks.id of the next attempt at the same work, where this one failed; model
ALTER TABLE tasks ADD COLUMN partial_count INTEGER; -- count; of its processes with partial = 1; processes
ALTER TABLE tools ADD COLUMN partial_count INTEGER; -- count; of its processes with partial = 1; processes
ALTER TABLE process_rows ADD COLUMN failed INTEGER;
ALTER TABLE process_rows ADD COLUMN partial INTEGER;
ALTER TABLE incidents ADD COLUMN fatal INTEGER; -- 0 or 1; its task failed of it; model
