-- title: Which attempts failed?
-- explanation: Tasks that failed, retried or not, without those that ran out of memory (out_of_memory). What they used was
--   lost; if they were retried, so was the time until the retry was running.
-- finding: tune
-- parameter: run_id run = latest; the run
-- parameter: least_ns duration = 10s; minimum wall time of a task
-- column: task_id id; the task
-- column: name text; its name
-- column: status text; how it ended
-- column: exit_code number; its exit code
-- column: wall_ns duration; its wall time
-- column: outcome text; whether it was retried
-- column: cpu_ns duration; CPU time that was lost
-- column: saved_ns duration; its wall time if it was retried
-- subject: name
-- impact: wall = saved_ns, cpu = cpu_ns
-- saving: least
-- sentence: {name} failed after {wall_ns}, {outcome}
-- advice: See tracer failed for the cause.
SELECT t.id AS task_id, t.name AS name, t.status AS status, t.exit_code AS exit_code, t.wall_ns AS wall_ns,
       CASE WHEN t.retried_by_id IS NULL THEN 'and nothing repeated it' ELSE 'and was started again' END AS outcome,
       t.cpu_ns AS cpu_ns, CASE WHEN t.retried_by_id IS NULL THEN 0 ELSE t.wall_ns END AS saved_ns
  FROM standing_tasks t
 WHERE t.host_id = :host_id AND t.run_id = :run_id AND t.status IN ('failed', 'killed') AND t.kind <> 'main'
   AND t.wall_ns >= :least_ns
   AND t.id NOT IN (SELECT task_id FROM processes
                     WHERE host_id = :host_id AND oom_killed = 1 AND task_id IS NOT NULL
                       AND tool_id IN (SELECT id FROM tools WHERE host_id = :host_id AND run_id = :run_id))
 ORDER BY saved_ns DESC, task_id;
