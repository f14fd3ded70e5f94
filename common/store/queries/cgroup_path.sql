-- The path of a cgroup that was told of in this boot, :cgroup_row_id the row. The correlator's own, no reader's.
SELECT path FROM cgroups WHERE id = :cgroup_row_id;
