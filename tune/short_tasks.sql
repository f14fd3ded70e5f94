-- title: Did a run spend its time on starting short tasks?
-- explanation: Tasks of a name that are short, and the times before them in which no task of the run was running. If
--   that is a large part of the run, what it costs to start a task dominates.
-- finding: tune
-- parameter: run_id run = latest; the run
-- parameter: most_wall_ns duration = 30s; maximum mean wall time of tasks of a name; source: XDMoD (short jobs)
-- parameter: least_count count = 50; minimum number of tasks of a name
-- parameter: least_share share = 10%; minimum share of all gaps before them in the run's wall time; source: our proposal
-- parameter: gap_ns duration = 1s; longer gaps do not count (see gaps_between_tasks)
-- column: name text; name of the tasks
-- column: task_count count; tasks of this name
-- column: mean_ns duration; their mean wall time
-- column: wait_ns duration; sum of the gaps before them
-- column: wait_share share; its share of the run's wall time
-- column: saved_ns duration; all gaps but the longest
-- subject: name
-- impact: wall = saved_ns
-- sentence: {task_count} × {name} took {mean_ns} each; starting them took {wait_ns}, {wait_share} of the run
-- advice: Let each task do more: give it several inputs, or group them (Nextflow buffer or collate, Snakemake group).
WITH run AS (
  SELECT wall_ns AS run_wall_ns
    FROM standing_runs
   WHERE host_id = :host_id AND id = :run_id AND wall_ns > 0
), task AS (
  SELECT name AS task_name, wall_ns AS task_wall_ns,
         begin_boot_ns - max(end_boot_ns) OVER (ORDER BY begin_boot_ns, id
                                                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS task_gap_ns
    FROM standing_tasks
   WHERE host_id = :host_id AND run_id = :run_id AND kind <> 'main' AND end_boot_ns IS NOT NULL
), total AS (
  SELECT task_name AS total_name, count(*) AS all_count, sum(task_wall_ns) AS all_wall_ns,
         sum(CASE WHEN task_gap_ns > 0 AND task_gap_ns < :gap_ns THEN task_gap_ns ELSE 0 END) AS all_gap_ns,
         max(CASE WHEN task_gap_ns > 0 AND task_gap_ns < :gap_ns THEN task_gap_ns ELSE 0 END) AS longest_gap_ns
    FROM task
   GROUP BY task_name
)
SELECT total.total_name AS name, total.all_count AS task_count,
       CAST(1.0 * total.all_wall_ns / total.all_count AS BIGINT) AS mean_ns, total.all_gap_ns AS wait_ns,
       1.0 * total.all_gap_ns / run.run_wall_ns AS wait_share, total.all_gap_ns - total.longest_gap_ns AS saved_ns
  FROM total CROSS JOIN run
 WHERE total.all_gap_ns >= :least_share * run.run_wall_ns AND total.all_count >= :least_count AND total.all_wall_ns <= 1.0 * :most_wall_ns * total.all_count
 ORDER BY wait_ns DESC, name;
