-- title: Did the engine run fewer tasks at a time than there are processors?
-- explanation: The run had as many tasks running as it ever had (for 1 % of its time or more) for most of its time, these
--   left processors idle, and there were more tasks of one name than ran at a time: the engine probably has a limit
--   (-j, --cores, maxForks, executor.cpus). Where its command line says the limit, that must be reached; else a run of one
--   task at a time may be a chain, and is not found. Only runs with an engine. Tasks that wait for each other save less.
-- finding: tune
-- parameter: run_id run = latest; the run
-- parameter: least_share share = 60%; minimum share of the run's wall time at its highest number of tasks; source: our proposal
-- parameter: least_tasks count = 4; minimum number of tasks for each that runs at a time; source: our proposal
-- parameter: least_ns duration = 5s; minimum wall time of the run
-- column: name text; the engine
-- column: concurrent_count count; most tasks at a time
-- column: task_count count; tasks of the run
-- column: limit_ns duration; time with as many tasks
-- column: used_count number; processors that they used on average
-- column: cpu_count number; processors that the run may use
-- column: saved_ns duration; wall time if all processors were used
-- subject: name
-- impact: wall = saved_ns
-- sentence: {name} never ran more than {concurrent_count} of {task_count} tasks at a time, for {limit_ns} exactly as many; they used {used_count} of {cpu_count} processors
-- advice: Raise the engine's limit (make -j, snakemake --cores, Nextflow executor.cpus or maxForks) as far as memory allows.
WITH run AS (
  SELECT r.wall_ns AS run_wall_ns, r.engine AS run_engine, r.task_count AS run_task_count, r.cpu_ns AS run_cpu_ns,
         CASE WHEN r.core_limit_milli > 0 THEN 0.001 * r.core_limit_milli
              WHEN h.core_limit_milli > 0 THEN 0.001 * h.core_limit_milli ELSE 1.0 * h.cpu_count END AS run_cpu_count
    FROM standing_runs r JOIN hosts h ON h.id = r.host_id
   WHERE r.host_id = :host_id AND r.id = :run_id AND r.wall_ns >= :least_ns AND r.engine IS NOT NULL
), moment AS (
  SELECT begin_boot_ns AS moment_ns, 1 AS step
    FROM standing_tasks
   WHERE host_id = :host_id AND run_id = :run_id AND kind <> 'main' AND end_boot_ns IS NOT NULL
   UNION ALL
  SELECT end_boot_ns AS moment_ns, -1 AS step
    FROM standing_tasks
   WHERE host_id = :host_id AND run_id = :run_id AND kind <> 'main' AND end_boot_ns IS NOT NULL
), changed AS (
  SELECT moment_ns, sum(step) AS step
    FROM moment
   GROUP BY moment_ns
), counted AS (
  SELECT sum(step) OVER (ORDER BY moment_ns ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS running_count,
         max(moment_ns) OVER (ORDER BY moment_ns ROWS BETWEEN 1 FOLLOWING AND 1 FOLLOWING) - moment_ns AS running_ns
    FROM changed
), held AS (
  SELECT running_count, sum(running_ns) AS held_ns
    FROM counted
   GROUP BY running_count
), job AS (
  SELECT max(requested_thread_count) AS job_limit
    FROM standing_tools
   WHERE host_id = :host_id AND role = 'orchestrator'
     AND task_id IN (SELECT id FROM tasks WHERE host_id = :host_id AND run_id = :run_id AND kind = 'main')
), named AS (
  SELECT count(*) AS same_count
    FROM standing_tasks
   WHERE host_id = :host_id AND run_id = :run_id AND kind <> 'main'
   GROUP BY name
), most AS (
  SELECT max(same_count) AS most_same_count
    FROM named
), peak AS (
  SELECT max(held.running_count) AS most_count
    FROM held CROSS JOIN run
   WHERE held.held_ns >= 0.01 * run.run_wall_ns
), total AS (
  SELECT peak.most_count AS most_count, held.held_ns AS most_ns
    FROM held JOIN peak ON held.running_count = peak.most_count
)
SELECT run.run_engine AS name, total.most_count AS concurrent_count, run.run_task_count AS task_count,
       total.most_ns AS limit_ns, 1.0 * run.run_cpu_ns / run.run_wall_ns AS used_count, run.run_cpu_count AS cpu_count,
       CAST(total.most_ns * (1 - 1.0 * run.run_cpu_ns / (run.run_wall_ns * run.run_cpu_count)) AS BIGINT) AS saved_ns
  FROM run CROSS JOIN total
           CROSS JOIN job
           CROSS JOIN most
 WHERE total.most_ns >= :least_share * run.run_wall_ns AND total.most_count < run.run_cpu_count AND run.run_task_count >= :least_tasks * total.most_count
   AND most.most_same_count > total.most_count AND total.most_count >= coalesce(job.job_limit, 2)
   AND run.run_cpu_ns <= 1.1 * total.most_count * run.run_wall_ns
   AND run.run_cpu_ns <= 0.8 * run.run_cpu_count * run.run_wall_ns
 ORDER BY name;
