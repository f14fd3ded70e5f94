-- The number of rows in each table. No parameters.
-- needs: all users
SELECT name, row_count
  FROM (SELECT 1 AS place, 'hosts' AS name, count(*) AS row_count FROM hosts
         UNION ALL SELECT 2, 'containers', count(*) FROM containers
         UNION ALL SELECT 3, 'runs', count(*) FROM runs
         UNION ALL SELECT 4, 'tasks', count(*) FROM tasks
         UNION ALL SELECT 5, 'tools', count(*) FROM tools
         UNION ALL SELECT 6, 'processes', count(*) FROM processes
         UNION ALL SELECT 7, 'samples', count(*) FROM samples
         UNION ALL SELECT 8, 'host_samples', count(*) FROM host_samples
         UNION ALL SELECT 9, 'incidents', count(*) FROM incidents
         UNION ALL SELECT 10, 'losses', count(*) FROM losses) AS counted
 ORDER BY place;
