-- The path of a cgroup reported during this boot, by its row id :cgroup_row_id. For the correlator, not for readers.
SELECT path FROM cgroups WHERE id = :cgroup_row_id;
