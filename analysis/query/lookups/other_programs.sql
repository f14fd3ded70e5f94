-- The program outside a run that used most CPU time in a part of its time. CPU time of a process is taken to be spread evenly.
-- :run_id the run; :host_id its host; :begin_boot_ns, :end_boot_ns that part.
-- needs: all users
WITH other AS (
  SELECT program AS other_program, cpu_ns AS other_cpu_ns, begin_boot_ns AS other_begin_ns,
         CASE WHEN end_boot_ns IS NULL OR end_boot_ns < begin_boot_ns THEN :end_boot_ns ELSE end_boot_ns END AS other_end_ns
    FROM processes
   WHERE host_id = :host_id AND cpu_ns > 0 AND begin_boot_ns < :end_boot_ns
     AND (end_boot_ns IS NULL OR end_boot_ns > :begin_boot_ns)
     AND tool_id NOT IN (SELECT id FROM tools WHERE host_id = :host_id AND run_id = :run_id)
)
SELECT other_program AS program,
       CAST(sum(1.0 * other_cpu_ns *
                ((CASE WHEN other_end_ns < :end_boot_ns THEN other_end_ns ELSE :end_boot_ns END) -
                 (CASE WHEN other_begin_ns > :begin_boot_ns THEN other_begin_ns ELSE :begin_boot_ns END)) /
                (other_end_ns - other_begin_ns + 1)) AS BIGINT) AS used_ns
  FROM other
 GROUP BY other_program
 ORDER BY used_ns DESC, program
 LIMIT 1;
