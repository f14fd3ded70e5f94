-- title: Which tasks of a name took much longer than the others at the same time?
-- explanation: Tasks of the same name that were all running at some moment, of which the longest took much longer than
--   the mean. If their work were divided evenly, each would take the mean: that is what the longest could save.
-- finding: tune
-- parameter: run_id run = latest; the run
-- parameter: most_balance_share share = 75%; maximum mean wall time in shares of the longest; source: load balance of the POP Centre of Excellence, which wants 80 %
-- parameter: least_ns duration = 1s; minimum saving
-- column: task_id id; the longest task
-- column: name text; name of the tasks
-- column: task_count count; tasks of this name
-- column: wall_ns duration; wall time of the longest
-- column: mean_ns duration; mean wall time of all
-- column: saved_ns duration; difference of the two
-- subject: name
-- impact: wall = saved_ns
-- sentence: the longest of {task_count} × {name} took {wall_ns}, {mean_ns} on average
-- advice: Divide their input more evenly, into more and smaller parts, or start the longest first.
WITH task AS (
  SELECT id, name AS task_name, begin_boot_ns AS task_begin_ns, end_boot_ns AS task_end_ns, wall_ns AS task_wall_ns,
         count(*) OVER (PARTITION BY name) AS all_count,
         sum(wall_ns) OVER (PARTITION BY name) AS all_wall_ns,
         max(begin_boot_ns) OVER (PARTITION BY name) AS last_begin_ns,
         min(end_boot_ns) OVER (PARTITION BY name) AS first_end_ns,
         row_number() OVER (PARTITION BY name ORDER BY wall_ns DESC, id) AS place
    FROM standing_tasks
   WHERE host_id = :host_id AND run_id = :run_id AND wall_ns > 0 AND kind <> 'main' AND retried_by_id IS NULL
)
SELECT id AS task_id, task_name AS name, all_count AS task_count, task_wall_ns AS wall_ns,
       CAST(1.0 * all_wall_ns / all_count AS BIGINT) AS mean_ns,
       CAST(task_wall_ns - 1.0 * all_wall_ns / all_count AS BIGINT) AS saved_ns
  FROM task
 WHERE place = 1 AND all_count >= 2 AND last_begin_ns < first_end_ns
   AND 1.0 * all_wall_ns / all_count <= :most_balance_share * task_wall_ns
   AND task_wall_ns - 1.0 * all_wall_ns / all_count >= :least_ns
 ORDER BY saved_ns DESC, task_id;
