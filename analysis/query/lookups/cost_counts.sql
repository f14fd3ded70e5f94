-- How many tasks of each host ran in a time, so that cost_tasks.sql can be asked of several hosts at once.
-- Parameters as in cost_tasks.sql.
-- needs: all users
SELECT host_id, count(*) AS task_count
  FROM standing_tasks
 WHERE started_unix_ns < :until_unix_ns AND host_id >= :first_host_id AND host_id <= :last_host_id
   AND (wall_ns IS NULL OR started_unix_ns + wall_ns > :since_unix_ns)
 GROUP BY host_id
 ORDER BY host_id;
