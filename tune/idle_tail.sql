-- title: Did a run wait for its last task?
-- explanation: The last task ran alone after all others had ended, although it had begun while others ran: had it begun
--   first, or had it been divided, the run would have ended earlier. Tasks of the same name as others are found by
--   uneven_tasks.
-- finding: tune
-- parameter: run_id run = latest; the run
-- parameter: least_share share = 10%; minimum time alone in shares of the run's wall time; source: our proposal
-- parameter: least_ns duration = 5s; minimum time alone
-- column: task_id id; the last task
-- column: name text; its name
-- column: wall_ns duration; its wall time
-- column: alone_ns duration; the part of it in which nothing else ran
-- column: saved_ns duration; the same: the most that is possible
-- subject: name
-- impact: wall = saved_ns
-- sentence: {name} ran {wall_ns}, the last {alone_ns} alone
-- advice: Start it before the others, give it more threads, or divide its input. The saving is the most that is possible.
WITH run AS (
  SELECT wall_ns AS run_wall_ns
    FROM standing_runs
   WHERE host_id = :host_id AND id = :run_id AND wall_ns > 0
), task AS (
  SELECT id, name AS task_name, begin_boot_ns AS task_begin_ns, end_boot_ns AS task_end_ns, wall_ns AS task_wall_ns,
         count(*) OVER (PARTITION BY name) AS same_count,
         row_number() OVER (ORDER BY end_boot_ns DESC, id) AS place,
         max(end_boot_ns) OVER (ORDER BY end_boot_ns DESC, id ROWS BETWEEN 1 FOLLOWING AND 1 FOLLOWING) AS before_end_ns
    FROM standing_tasks
   WHERE host_id = :host_id AND run_id = :run_id AND kind <> 'main' AND end_boot_ns IS NOT NULL
)
SELECT task.id AS task_id, task.task_name AS name, task.task_wall_ns AS wall_ns,
       task.task_end_ns - task.before_end_ns AS alone_ns, task.task_end_ns - task.before_end_ns AS saved_ns
  FROM task CROSS JOIN run
 WHERE task.task_end_ns - task.before_end_ns >= :least_share * run.run_wall_ns AND task.place = 1 AND task.same_count = 1 AND task.before_end_ns > task.task_begin_ns
   AND task.task_end_ns - task.before_end_ns >= :least_ns
 ORDER BY task_id;
