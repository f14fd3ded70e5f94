-- title: When did a run have no task running?
-- explanation: Times between tasks in which no task of the run was running, each longer than the limit: the engine or
--   the script had not begun the next one. Many short gaps are another finding (short_tasks). The first and the last
--   part of a run, before and after its tasks, do not count.
-- finding: tune
-- parameter: run_id run = latest; the run
-- parameter: least_ns duration = 1s; minimum gap
-- parameter: least_share share = 2%; minimum gap in shares of the run's wall time; source: our proposal
-- column: name text; the task that began after the gap
-- column: gap_ns duration; the gap
-- column: begin_boot_ns boot; when it began
-- column: after_name text; a task that had ended before it
-- column: saved_ns duration; the gap
-- subject: name
-- impact: wall = saved_ns
-- sentence: nothing ran for {gap_ns} before {name}
-- advice: Find out what the engine or script waited for: its polling interval, a queue, a lock, a sleep, or a download.
WITH run AS (
  SELECT wall_ns AS run_wall_ns
    FROM standing_runs
   WHERE host_id = :host_id AND id = :run_id AND wall_ns > 0
), task AS (
  SELECT id, name AS task_name, begin_boot_ns AS task_begin_ns,
         max(end_boot_ns) OVER (ORDER BY begin_boot_ns, id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
           AS before_end_ns,
         max(name) OVER (ORDER BY begin_boot_ns, id ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING) AS before_name
    FROM standing_tasks
   WHERE host_id = :host_id AND run_id = :run_id AND kind <> 'main' AND end_boot_ns IS NOT NULL
)
SELECT task.task_name AS name, task.task_begin_ns - task.before_end_ns AS gap_ns, task.before_end_ns AS begin_boot_ns,
       task.before_name AS after_name, task.task_begin_ns - task.before_end_ns AS saved_ns
  FROM task CROSS JOIN run
 WHERE task.before_end_ns IS NOT NULL AND task.task_begin_ns - task.before_end_ns >= :least_share * run.run_wall_ns
   AND task.task_begin_ns - task.before_end_ns >= :least_ns
 ORDER BY gap_ns DESC, task.id;
