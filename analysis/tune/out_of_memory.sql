-- title: Which tasks ran out of memory?
-- explanation: Tasks that failed after the kernel's OOM killer had killed one of their processes. Exit code 137 alone
--   does not count.
-- finding: tune
-- parameter: run_id run = latest; the run
-- column: task_id id; the task
-- column: name text; its name
-- column: memory_limit_bytes bytes; its memory limit; unknown: the host's memory
-- column: used_bytes bytes; the most memory that was seen
-- column: cpu_ns duration; CPU time that was lost
-- column: saved_ns duration; its wall time
-- subject: name
-- impact: wall = saved_ns, cpu = cpu_ns
-- saving: least
-- sentence: {name} was killed for lack of memory after {saved_ns} (limit {memory_limit_bytes})
-- advice: Request more memory from the start: tracer tune --right-size says how much.
SELECT t.id AS task_id, t.name AS name, t.memory_limit_bytes AS memory_limit_bytes, t.peak_rss_bytes AS used_bytes,
       t.cpu_ns AS cpu_ns, t.wall_ns AS saved_ns
  FROM standing_tasks t
 WHERE t.host_id = :host_id AND t.run_id = :run_id AND t.status IN ('failed', 'killed')
   AND t.id IN (SELECT task_id FROM processes
                 WHERE host_id = :host_id AND oom_killed = 1
                   AND tool_id IN (SELECT id FROM tools
                                  WHERE host_id = :host_id
                                    AND task_id IN (SELECT id FROM tasks
                                                     WHERE host_id = :host_id AND run_id = :run_id
                                                       AND status IN ('failed', 'killed'))))
 ORDER BY saved_ns DESC NULLS LAST, task_id;
