-- title: Which tasks used one processor while the others were idle?
-- explanation: Tasks that used one processor all the time, and may use several, while no other task of the run was
--   running. They could save at most what they would if their work were spread over all processors.
-- finding: tune
-- parameter: run_id run = latest; the run
-- parameter: least_share share = 85%; minimum share of one processor that it used; source: jobstats (0.85 to 1.01)
-- parameter: overlap_share share = 10%; the other tasks may overlap with this share of it
-- parameter: least_ns duration = 5s; minimum wall time of a task
-- column: task_id id; the task
-- column: name text; name of the task
-- column: wall_ns duration; its wall time
-- column: cores number; processors that it used on average
-- column: cpu_count number; processors that it may use
-- column: saved_ns duration; wall time that it would save if it used all of these equally well
-- subject: name
-- impact: wall = saved_ns
-- sentence: {name} used one of {cpu_count} processors for {wall_ns}, and nothing else ran
-- advice: Use the program's threads (-t, -@, --threads), if it has them.
WITH task AS (
  SELECT t.id AS id, t.name AS task_name, t.wall_ns AS task_wall_ns, t.cpu_ns AS task_cpu_ns,
         t.begin_boot_ns AS task_begin_ns, t.end_boot_ns AS task_end_ns, t.kind AS task_kind,
         CASE WHEN t.core_limit_milli > 0 THEN 0.001 * t.core_limit_milli
              WHEN h.core_limit_milli > 0 THEN 0.001 * h.core_limit_milli ELSE 1.0 * h.cpu_count END AS may_use_count,
         max(coalesce(t.end_boot_ns, t.begin_boot_ns + 1000000000000000000)) OVER (ORDER BY t.begin_boot_ns, t.id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
           AS before_end_ns,
         min(t.begin_boot_ns) OVER (ORDER BY t.begin_boot_ns, t.id ROWS BETWEEN 1 FOLLOWING AND 1 FOLLOWING)
           AS next_begin_ns
    FROM standing_tasks t JOIN hosts h ON h.id = t.host_id
   WHERE t.host_id = :host_id AND t.run_id = :run_id
     AND (t.kind <> 'main' OR (SELECT count(*) FROM standing_tasks
                                WHERE host_id = :host_id AND run_id = :run_id AND kind <> 'main') = 0)
)
SELECT id AS task_id, task_name AS name, task_wall_ns AS wall_ns, 1.0 * task_cpu_ns / task_wall_ns AS cores,
       may_use_count AS cpu_count,
       CAST(task_wall_ns - 1.0 * task_wall_ns / may_use_count AS BIGINT) AS saved_ns
  FROM task
 WHERE task_wall_ns >= :least_ns AND may_use_count >= 2
   AND task_cpu_ns >= :least_share * task_wall_ns AND task_cpu_ns <= 1.01 * task_wall_ns
   AND (before_end_ns IS NULL OR before_end_ns <= task_begin_ns + :overlap_share * task_wall_ns)
   AND (next_begin_ns IS NULL OR next_begin_ns >= task_end_ns - :overlap_share * task_wall_ns)
 ORDER BY wall_ns DESC, task_id;
