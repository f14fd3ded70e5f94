-- How much there is of everything. No parameters.
SELECT 'hosts' AS name, count(*) AS row_count FROM hosts
 UNION ALL SELECT 'containers', count(*) FROM containers
 UNION ALL SELECT 'runs', count(*) FROM runs
 UNION ALL SELECT 'tasks', count(*) FROM tasks
 UNION ALL SELECT 'tools', count(*) FROM tools
 UNION ALL SELECT 'processes', count(*) FROM processes
 UNION ALL SELECT 'samples', count(*) FROM samples
 UNION ALL SELECT 'incidents', count(*) FROM incidents
 UNION ALL SELECT 'losses', count(*) FROM losses;
