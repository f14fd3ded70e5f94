-- title: When did a run have no task running?
-- explanation: Times between tasks in which no task of the run was running, each longer than the limit: the engine or
--   the script had not begun the next one. Times in which it computed itself do not count. Many short gaps are another finding (short_tasks). The first and the last
--   part of a run, before and after its tasks, do not count.
-- finding: tune
-- parameter: run_id run = latest; the run
-- parameter: least_ns duration = 1s; minimum gap
-- parameter: least_share share = 2%; minimum gap in shares of the run's wall time; source: our proposal
-- parameter: most_cpu_share share = 50%; maximum CPU time of the engine or script meanwhile, in shares of the gap; source: our proposal
-- column: name text; the task that began after the gap
-- column: gap_ns duration; the gap
-- column: begin_boot_ns boot; when it began
-- column: after_name text; a task that had ended before it
-- column: saved_ns duration; the gap
-- subject: name
-- impact: wall = saved_ns
-- sentence: no task ran for {gap_ns} before {name}, and {after_name} had ended
-- advice: Find out what the engine or script waited for: tracer show --processes lists what ran then.
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
), gap AS (
  SELECT task.id AS gap_id, task.task_name AS task_name, task.before_name AS before_name,
         task.before_end_ns AS gap_begin_ns, task.task_begin_ns AS gap_end_ns
    FROM task CROSS JOIN run
   WHERE task.before_end_ns IS NOT NULL AND task.task_begin_ns - task.before_end_ns >= :least_ns
     AND task.task_begin_ns - task.before_end_ns >= :least_share * run.run_wall_ns
), driver AS (
  SELECT process_id AS driver_id, boot_ns AS driver_ns, cpu_ns AS driver_cpu_ns
    FROM placed_samples
   WHERE host_id = :host_id
     AND process_id IN (SELECT id FROM processes
                         WHERE host_id = :host_id
                           AND tool_id IN (SELECT id FROM tools
                                            WHERE host_id = :host_id
                                              AND task_id IN (SELECT id FROM tasks
                                                               WHERE host_id = :host_id AND run_id = :run_id
                                                                 AND kind = 'main')))
), used AS (
  SELECT gap.gap_id AS used_id, driver.driver_id AS used_driver_id,
         max(driver.driver_cpu_ns) - max(CASE WHEN driver.driver_ns <= gap.gap_begin_ns THEN driver.driver_cpu_ns ELSE 0 END)
           AS used_ns
    FROM gap CROSS JOIN driver
   WHERE driver.driver_ns <= gap.gap_end_ns
   GROUP BY gap.gap_id, driver.driver_id
), busy AS (
  SELECT used_id AS busy_id, sum(used_ns) AS busy_ns
    FROM used
   GROUP BY used_id
)
SELECT gap.task_name AS name, gap.gap_end_ns - gap.gap_begin_ns AS gap_ns, gap.gap_begin_ns AS begin_boot_ns,
       gap.before_name AS after_name, gap.gap_end_ns - gap.gap_begin_ns AS saved_ns
  FROM gap LEFT JOIN busy ON busy.busy_id = gap.gap_id
 WHERE coalesce(busy.busy_ns, 0) <= :most_cpu_share * (gap.gap_end_ns - gap.gap_begin_ns)
 ORDER BY gap_ns DESC, gap.gap_id;
