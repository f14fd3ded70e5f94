-- title: Did a program wait for the slowest of its workers?
-- explanation: Processes that a program forked from itself, several at the same time, of which one computed for longer than
--   the others. If their work were divided evenly, the last would end earlier by the difference to the mean; that is only possible
--   if there is a processor for each.
-- finding: tune
-- parameter: run_id run = latest; the run
-- parameter: least_count count = 3; minimum number of workers at the same time
-- parameter: least_share share = 10%; minimum difference of all, in shares of the task's wall time; source: our proposal
-- parameter: least_busy_share share = 80%; minimum time in which the slowest one used or waited for a processor, in shares of its wall time
-- parameter: least_ns duration = 1s; minimum difference of all
-- column: task_id id; the task
-- column: name text; its name
-- column: program text; the program of the workers
-- column: worker_count count; the most at the same time
-- column: group_count count; how many times it started some together
-- column: most_ns duration; CPU time of the slowest one of each group
-- column: mean_ns duration; mean CPU time of a worker, of all groups
-- column: saved_ns duration; the difference
-- subject: name
-- impact: wall = saved_ns
-- sentence: {name} waited {group_count} time(s) for the slowest of {worker_count} workers ({program}), which computed for {most_ns}; the mean is {mean_ns}
-- advice: Divide the work of these processes more evenly.
WITH worker AS (
  SELECT id, task_id AS own_task_id, parent_id AS own_parent_id, program AS own_program, cpu_ns AS own_cpu_ns,
         cpu_ns + coalesce(run_delay_ns, 0) AS own_busy_ns, begin_boot_ns AS own_begin_ns, end_boot_ns AS own_end_ns,
         max(end_boot_ns) OVER (PARTITION BY parent_id, program ORDER BY begin_boot_ns, id
                                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_end_ns
    FROM processes
   WHERE host_id = :host_id AND began = 'fork' AND role IN ('tool', 'interpreter') AND end_boot_ns IS NOT NULL AND cpu_ns IS NOT NULL
     AND task_id IN (SELECT id FROM tasks WHERE host_id = :host_id AND run_id = :run_id)
), numbered AS (
  SELECT own_task_id, own_parent_id, own_program, own_cpu_ns, own_busy_ns, own_end_ns - own_begin_ns AS own_wall_ns,
         sum(CASE WHEN before_end_ns IS NULL OR before_end_ns <= own_begin_ns THEN 1 ELSE 0 END)
           OVER (PARTITION BY own_parent_id, own_program ORDER BY own_begin_ns, id
                 ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS group_number
    FROM worker
), bunch AS (
  SELECT own_task_id, own_program, count(*) AS bunch_count, max(own_cpu_ns) AS bunch_most_ns, max(own_wall_ns) AS bunch_wall_ns,
         max(own_busy_ns) AS bunch_busy_ns,
         1.0 * sum(own_cpu_ns) / count(*) AS bunch_mean_ns
    FROM numbered
   GROUP BY own_task_id, own_parent_id, own_program, group_number
), total AS (
  SELECT own_task_id AS total_task_id, own_program AS total_program, max(bunch_count) AS all_count, count(*) AS all_groups,
         sum(bunch_most_ns) AS all_most_ns, sum(bunch_mean_ns) AS all_mean_ns
    FROM bunch
   WHERE bunch_count >= :least_count AND bunch_busy_ns >= :least_busy_share * bunch_wall_ns
   GROUP BY own_task_id, own_program
)
SELECT t.id AS task_id, t.name AS name, total.total_program AS program, total.all_count AS worker_count, total.all_groups AS group_count,
       total.all_most_ns AS most_ns, CAST(total.all_mean_ns AS BIGINT) AS mean_ns,
       CAST(total.all_most_ns - total.all_mean_ns AS BIGINT) AS saved_ns
  FROM total JOIN standing_tasks t ON t.id = total.total_task_id
 WHERE t.host_id = :host_id AND total.all_most_ns - total.all_mean_ns >= :least_ns
   AND total.all_most_ns - total.all_mean_ns >= :least_share * t.wall_ns
 ORDER BY saved_ns DESC, task_id, program;
