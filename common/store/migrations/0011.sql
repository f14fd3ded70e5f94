-- Processors that runs and tasks may use.

ALTER TABLE runs ADD COLUMN core_limit_milli INTEGER; -- 1/1000 core; processors allowed: the most that any of its programs was allowed at its start, at most the host's, NULL: unknown; least of task.nr_cpus_allowed and cfs_bandwidth.quota / period from its cgroup up to the root
ALTER TABLE tasks ADD COLUMN core_limit_milli INTEGER; -- 1/1000 core; processors allowed: the most that any of its programs was allowed at its start, of a task in a container only those inside, at most the host's, NULL: unknown; least of task.nr_cpus_allowed and cfs_bandwidth.quota / period from its cgroup up to the root
