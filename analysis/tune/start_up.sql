-- title: Which programs mostly started up?
-- explanation: Interpreters and virtual machines (Python, Java, R, Perl, Julia and others) that were started many times for a
--   short time each, and other programs that were started very often for milliseconds each. Most of such a process is
--   start-up: loading the program, imports, just-in-time compilation. Workers that are forked do not count, nor does what
--   failed. What one process could do of all their work is not known, so all but one are counted as saved.
-- finding: tune
-- parameter: run_id run = latest; the run
-- parameter: most_wall_ns duration = 1s; maximum mean wall time of an interpreter; source: our proposal: imports of common packages take 0.3 to 1 s
-- parameter: most_short_ns duration = 20ms; maximum mean wall time of another program; source: our proposal
-- parameter: least_short_count count = 500; minimum number of its processes in the run
-- parameter: least_share share = 10%; minimum share of their CPU time in the run's; source: our proposal
-- parameter: least_ns duration = 1s; minimum wall time of all of them
-- parameter: least_count count = 5; minimum number of an interpreter's processes in the run
-- column: task_id id; a task with such processes
-- column: name text; the program
-- column: process_count count; processes in the run
-- column: mean_ns duration; their mean wall time
-- column: all_cpu_ns duration; their CPU time
-- column: cpu_share share; its share of the run's CPU time
-- column: cpu_ns duration; CPU time of this task's that would be saved
-- column: saved_ns duration; wall time of this task's
-- subject: name
-- impact: wall = saved_ns, cpu = cpu_ns
-- sentence: {name} was started {process_count} times for {mean_ns} each, probably most of it start-up: {all_cpu_ns} of CPU time, {cpu_share} of the run's
-- advice: Give it several inputs at each start.
WITH run AS (
  SELECT cpu_ns AS run_cpu_ns
    FROM standing_runs
   WHERE host_id = :host_id AND id = :run_id AND cpu_ns > 0
), process AS (
  SELECT task_id AS own_task_id, program AS own_program, cpu_ns AS own_cpu_ns, end_boot_ns - begin_boot_ns AS own_wall_ns,
         CASE WHEN program IN ('java', 'Rscript', 'R', 'perl', 'julia', 'node', 'ruby', 'matlab', 'octave')
                OR substr(program, 1, 6) = 'python' THEN 1 ELSE 0 END AS is_interpreter,
         row_number() OVER (PARTITION BY program ORDER BY begin_boot_ns, id) AS place
    FROM processes
   WHERE host_id = :host_id AND end_boot_ns IS NOT NULL AND rule IS NOT NULL AND began = 'exec' AND coalesce(failed, 0) = 0
     AND task_id IN (SELECT id FROM tasks WHERE host_id = :host_id AND run_id = :run_id)
), total AS (
  SELECT own_program AS total_program, is_interpreter, count(*) AS all_count, sum(own_wall_ns) AS total_wall_ns,
         sum(own_cpu_ns) AS total_cpu_ns
    FROM process
   GROUP BY own_program, is_interpreter
), task AS (
  SELECT own_task_id, own_program, sum(CASE WHEN place > 1 THEN own_wall_ns ELSE 0 END) AS task_wall_ns,
         sum(CASE WHEN place > 1 THEN own_cpu_ns ELSE 0 END) AS task_cpu_ns
    FROM process
   GROUP BY own_task_id, own_program
)
SELECT task.own_task_id AS task_id, task.own_program AS name, total.all_count AS process_count,
       CAST(1.0 * total.total_wall_ns / total.all_count AS BIGINT) AS mean_ns, total.total_cpu_ns AS all_cpu_ns,
       1.0 * total.total_cpu_ns / run.run_cpu_ns AS cpu_share, task.task_cpu_ns AS cpu_ns,
       task.task_wall_ns AS saved_ns
  FROM task JOIN total ON total.total_program = task.own_program
            CROSS JOIN run
 WHERE total.total_cpu_ns >= :least_share * run.run_cpu_ns
   AND total.all_count >= (CASE WHEN total.is_interpreter = 1 THEN :least_count ELSE :least_short_count END)
   AND total.total_wall_ns <= 1.0 * (CASE WHEN total.is_interpreter = 1 THEN :most_wall_ns ELSE :most_short_ns END) * total.all_count
   AND total.total_wall_ns >= :least_ns
 ORDER BY all_cpu_ns DESC, name, task_id;
