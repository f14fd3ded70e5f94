-- title: What did a failed run use?
-- explanation: A run that failed has used processors and time for tasks that succeeded, too. What it would save to go on
--   from there is at most what these used; whether an engine can (nextflow -resume, snakemake, make) is not known here.
-- finding: tune
-- parameter: run_id run = latest; the run
-- parameter: least_ns duration = 10s; minimum CPU time of the tasks that succeeded; source: our proposal
-- column: name text; the run
-- column: done_count count; tasks that succeeded
-- column: task_count count; all tasks
-- column: wall_ns duration; wall time of the run
-- column: cpu_ns duration; CPU time of the tasks that succeeded
-- column: gpu_busy_ns duration?; time that GPUs worked for these
-- column: remedy text; what to do
-- subject: name
-- impact: cpu = cpu_ns, gpu = gpu_busy_ns
-- sentence: {name} failed after {wall_ns}; {done_count} of {task_count} task(s) had succeeded, with {cpu_ns} of CPU time
-- advice: {remedy}
WITH done AS (
  SELECT count(*) AS succeeded_count, sum(cpu_ns) AS succeeded_cpu_ns, sum(gpu_busy_ns) AS succeeded_gpu_ns
    FROM standing_tasks
   WHERE host_id = :host_id AND run_id = :run_id AND status = 'succeeded' AND kind <> 'main'
)
SELECT r.name AS name, done.succeeded_count AS done_count, r.task_count AS task_count, r.wall_ns AS wall_ns,
       done.succeeded_cpu_ns AS cpu_ns, done.succeeded_gpu_ns AS gpu_busy_ns,
       CASE WHEN r.engine = 'nextflow' THEN 'Run it again with -resume, so that these are not repeated.'
            WHEN r.engine IN ('make', 'ninja', 'snakemake') THEN 'Run it again: these are not repeated.'
            ELSE 'Let it leave out what is done before you run it again.' END AS remedy
  FROM standing_runs r CROSS JOIN done
 WHERE r.host_id = :host_id AND r.id = :run_id AND r.status IN ('failed', 'killed') AND done.succeeded_cpu_ns >= :least_ns;
