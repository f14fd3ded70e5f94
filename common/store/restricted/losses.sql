-- When records were lost makes the figures of all runs doubtful; in which cgroup is of no concern to others.
SELECT id, rev, host_id, kind, NULL AS cgroup_path, lost_count, first_boot_ns, last_boot_ns, unix_ns FROM main.losses;
