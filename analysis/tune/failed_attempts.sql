-- title: Which attempts failed?
-- explanation: Tasks that failed, retried or not, without those that ran out of memory (out_of_memory). What they used was
--   lost; if they were retried, so was the time until the retry was running.
-- finding: tune
-- parameter: run_id run = latest; the run
-- parameter: least_ns duration = 5s; minimum wall time of all of a name
-- parameter: least_share share = 1%; the same in shares of the run's wall time; source: our proposal
-- column: task_id id; the task
-- column: name text; its name
-- column: task_count count; tasks of this name that failed
-- column: failed_ns duration; their wall time
-- column: outcome text; whether they were repeated
-- column: cpu_ns duration; CPU time of this one, which was lost
-- column: gpu_busy_ns duration?; time that GPUs worked for it
-- column: saved_ns duration; its wall time if it was retried
-- subject: name
-- impact: wall = saved_ns, cpu = cpu_ns, gpu = gpu_busy_ns
-- saving: least
-- sentence: {task_count} × {name} failed after {failed_ns} in all, {outcome}
-- advice: See why: tracer failed --all RUN.
WITH run AS (
  SELECT wall_ns AS run_wall_ns
    FROM standing_runs
   WHERE host_id = :host_id AND id = :run_id
), task AS (
  SELECT id, name AS task_name, wall_ns AS task_wall_ns, cpu_ns AS task_cpu_ns, gpu_busy_ns AS task_gpu_ns,
         CASE WHEN retried_by_id IS NULL THEN 0 ELSE 1 END AS was_retried
    FROM standing_tasks
   WHERE host_id = :host_id AND run_id = :run_id AND status IN ('failed', 'killed') AND kind <> 'main'
     AND id NOT IN (SELECT task_id FROM processes
                     WHERE host_id = :host_id AND oom_killed = 1 AND task_id IS NOT NULL
                       AND tool_id IN (SELECT id FROM tools
                                      WHERE host_id = :host_id
                                        AND task_id IN (SELECT id FROM tasks
                                                         WHERE host_id = :host_id AND run_id = :run_id
                                                           AND status IN ('failed', 'killed'))))
), total AS (
  SELECT task_name AS total_name, count(*) AS all_count, sum(task_wall_ns) AS all_wall_ns, sum(was_retried) AS retried_count
    FROM task
   GROUP BY task_name
)
SELECT task.id AS task_id, task.task_name AS name, total.all_count AS task_count, total.all_wall_ns AS failed_ns,
       CASE WHEN total.retried_count = 0 THEN 'and nothing was repeated'
            WHEN total.retried_count = total.all_count THEN 'and was started again'
            ELSE 'and some were started again' END AS outcome,
       task.task_cpu_ns AS cpu_ns, task.task_gpu_ns AS gpu_busy_ns,
       CASE WHEN task.was_retried = 1 THEN task.task_wall_ns ELSE 0 END AS saved_ns
  FROM task JOIN total ON total.total_name = task.task_name
            CROSS JOIN run
 WHERE total.all_wall_ns >= :least_ns AND total.all_wall_ns >= :least_share * run.run_wall_ns
 ORDER BY saved_ns DESC, task_id;
