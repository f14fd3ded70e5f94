-- title: What did a run do more than once, as far as can be seen?
-- explanation: Processes with the same command line, in the same directory, that wrote something, and read and wrote as
--   many bytes, in tasks that did not fail. Whether they did the same work also depends on their input: a file may have
--   changed in between.
-- finding: tune
-- parameter: run_id run = latest; the run
-- parameter: least_ns duration = 1s; minimum CPU time of all but the longest process
-- parameter: least_bytes bytes = 1M; minimum number of bytes that each read
-- column: task_id id; a task that repeated it
-- column: name text; the program
-- column: arguments arguments; the command line
-- column: process_count count; processes with this command line
-- column: repeated_cpu_ns duration; CPU time of all but the longest
-- column: cpu_ns duration; CPU time of this repetition
-- column: saved_ns duration; wall time of this repetition
-- subject: arguments
-- impact: wall = saved_ns, cpu = cpu_ns
-- saving: least
-- sentence: {name} ran {process_count} times with the same command line ({arguments}) and as many bytes read and written: {repeated_cpu_ns} of CPU time
-- advice: Keep the result of the first time and use it again.
WITH same AS (
  SELECT id, task_id AS own_task_id, program AS own_program, arguments AS own_arguments, cpu_ns AS own_cpu_ns,
         end_boot_ns - begin_boot_ns AS own_wall_ns,
         count(*) OVER (PARTITION BY arguments, working_directory, rchar_bytes, wchar_bytes) AS same_count,
         sum(cpu_ns) OVER (PARTITION BY arguments, working_directory, rchar_bytes, wchar_bytes) AS same_cpu_ns,
         max(cpu_ns) OVER (PARTITION BY arguments, working_directory, rchar_bytes, wchar_bytes) AS most_cpu_ns,
         row_number() OVER (PARTITION BY arguments, working_directory, rchar_bytes, wchar_bytes
                            ORDER BY cpu_ns DESC, begin_boot_ns, id) AS place
    FROM processes
   WHERE host_id = :host_id AND length(arguments) > 0 AND rchar_bytes >= :least_bytes AND wchar_bytes > 0
     AND end_boot_ns IS NOT NULL AND failed = 0
     AND role IN ('tool', 'helper', 'interpreter')
     AND tool_id IN (SELECT id FROM tools
                      WHERE host_id = :host_id
                        AND task_id IN (SELECT id FROM tasks
                                         WHERE host_id = :host_id AND run_id = :run_id AND status = 'succeeded'))
)
SELECT own_task_id AS task_id, own_program AS name, own_arguments AS arguments, same_count AS process_count,
       same_cpu_ns - most_cpu_ns AS repeated_cpu_ns, own_cpu_ns AS cpu_ns, own_wall_ns AS saved_ns
  FROM same
 WHERE place > 1 AND same_cpu_ns - most_cpu_ns >= :least_ns
 ORDER BY repeated_cpu_ns DESC, same.id;
