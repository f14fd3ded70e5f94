-- The tasks of a run with command lines of their processes, one a row: of each task, the first 64 that are known.
-- :run_id the run; :host_id its host.
-- A task without any has one row. The run's own pseudo-task is left out.
WITH task AS (
  SELECT id AS wanted_task_id, name AS task_name
    FROM standing_tasks
   WHERE host_id = :host_id AND run_id = :run_id AND kind <> 'main'
), line AS (
  SELECT task_id AS line_task_id, arguments AS line_arguments, path AS line_path,
         working_directory AS line_directory,
         row_number() OVER (PARTITION BY task_id ORDER BY begin_boot_ns, id) AS place
    FROM processes
   WHERE host_id = :host_id AND length(arguments) > 0
     AND tool_id IN (SELECT id FROM tools
                      WHERE host_id = :host_id
                        AND task_id IN (SELECT id FROM tasks
                                         WHERE host_id = :host_id AND run_id = :run_id AND kind <> 'main'))
), first_line AS (
  SELECT line_task_id, line_arguments, line_path, line_directory, place AS line_place FROM line WHERE place <= 64
)
SELECT task.wanted_task_id AS task_id, task.task_name AS name, first_line.line_arguments AS arguments,
       first_line.line_path AS path, first_line.line_directory AS working_directory
  FROM task LEFT JOIN first_line ON first_line.line_task_id = task.wanted_task_id
 ORDER BY task.wanted_task_id, first_line.line_place;
