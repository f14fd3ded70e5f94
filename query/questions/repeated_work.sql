-- title: What did a run do more than once?
-- explanation: Processes with the same command line in the same directory. Whether they did the same
--   work also depends on their input: a file may have changed in between. Retries of failed attempts
--   are listed too.
-- parameter: run_id run = latest; the run
-- parameter: least_ns duration = 1s; minimum CPU time of all but the longest process
-- parameter: limit count = 20; maximum number of command lines
-- column: repeated_cpu_ns duration; CPU time of all but the longest process
-- column: process_count count; number of processes
-- column: cpu_ns duration; CPU time of all processes
-- column: program text; the program
-- column: arguments arguments; command line
-- column: working_directory text; working directory
WITH total AS (
  SELECT min(id) AS first_id, min(program) AS program, arguments AS same_arguments,
         working_directory AS same_directory, count(*) AS process_count, sum(cpu_ns) AS all_cpu_ns,
         sum(cpu_ns) - max(cpu_ns) AS repeated_cpu_ns
    FROM processes
   WHERE host_id = :host_id AND length(arguments) > 0
     AND tool_id IN (SELECT id FROM tools
                      WHERE host_id = :host_id
                        AND task_id IN (SELECT id FROM tasks
                                         WHERE host_id = :host_id AND run_id = :run_id))
   GROUP BY arguments, working_directory
)
SELECT total.repeated_cpu_ns AS repeated_cpu_ns, total.process_count AS process_count,
       total.all_cpu_ns AS cpu_ns, total.program AS program, total.same_arguments AS arguments,
       total.same_directory AS working_directory
  FROM total
 WHERE total.process_count > 1 AND total.repeated_cpu_ns >= :least_ns
 ORDER BY total.repeated_cpu_ns DESC, total.first_id
 LIMIT :limit;
