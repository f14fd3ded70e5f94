-- title: Did a run wait for a task that began late?
-- explanation: The last task ran alone after all others had ended, and it could have begun earlier: no task had ended
--   before it began, or tasks of the same name had begun before. (A task that may have waited for another one is not
--   found.) Had it begun first, it would have run beside the others.
-- finding: tune
-- parameter: run_id run = latest; the run
-- parameter: least_share share = 10%; minimum time alone in shares of the run's wall time; source: our proposal
-- parameter: least_ns duration = 1s; minimum saving
-- column: task_id id; the last task
-- column: name text; its name
-- column: wall_ns duration; its wall time
-- column: alone_ns duration; the part of it in which nothing else ran
-- column: late_ns duration; how much later it began than the first that it did not wait for
-- column: saved_ns duration; the less of the two
-- subject: name
-- impact: wall = saved_ns
-- sentence: {name} ran {wall_ns}, the last {alone_ns} of it alone; it began {late_ns} after the first task that it did not wait for
-- advice: Start the longest task, or that with the largest input, first.
WITH run AS (
  SELECT wall_ns AS run_wall_ns
    FROM standing_runs
   WHERE host_id = :host_id AND id = :run_id AND wall_ns > 0
), task AS (
  SELECT id, name AS task_name, begin_boot_ns AS task_begin_ns, end_boot_ns AS task_end_ns, wall_ns AS task_wall_ns,
         min(begin_boot_ns) OVER (PARTITION BY name) AS same_begin_ns,
         min(begin_boot_ns) OVER () AS first_begin_ns, min(end_boot_ns) OVER () AS first_end_ns,
         row_number() OVER (ORDER BY end_boot_ns DESC, id) AS place,
         max(end_boot_ns) OVER (ORDER BY end_boot_ns DESC, id ROWS BETWEEN 1 FOLLOWING AND 1 FOLLOWING) AS before_end_ns
    FROM standing_tasks
   WHERE host_id = :host_id AND run_id = :run_id AND kind <> 'main' AND end_boot_ns IS NOT NULL
), last AS (
  SELECT id, task_name, task_wall_ns, task_end_ns - before_end_ns AS task_alone_ns,
         task_begin_ns - (CASE WHEN task_begin_ns < first_end_ns - 20000000 THEN first_begin_ns ELSE same_begin_ns END)
           AS task_late_ns
    FROM task
   WHERE place = 1 AND before_end_ns > task_begin_ns + 20000000 -- 20 ms: not just the teardown of one before it
)
SELECT last.id AS task_id, last.task_name AS name, last.task_wall_ns AS wall_ns, last.task_alone_ns AS alone_ns,
       last.task_late_ns AS late_ns,
       CASE WHEN last.task_alone_ns < last.task_late_ns THEN last.task_alone_ns ELSE last.task_late_ns END AS saved_ns
  FROM last CROSS JOIN run
 WHERE last.task_alone_ns >= :least_share * run.run_wall_ns AND last.task_alone_ns >= :least_ns
   AND last.task_late_ns >= :least_ns
 ORDER BY task_id;
