-- Command lines of the processes of a run, one a row, task by task: of each, the first 64 that are known.
-- :run_id the run; :host_id its host.
-- Those of the run's own pseudo-task are left out.
WITH task AS (
  SELECT id AS wanted_task_id, name AS task_name FROM tasks WHERE host_id = :host_id AND run_id = :run_id AND kind <> 'main'
), line AS (
  SELECT task_id AS line_task_id, arguments AS line_arguments, path AS line_path,
         working_directory AS line_directory,
         row_number() OVER (PARTITION BY task_id ORDER BY begin_boot_ns, id) AS place
    FROM processes
   WHERE host_id = :host_id AND length(arguments) > 0 AND task_id IN (SELECT wanted_task_id FROM task)
)
SELECT line.line_task_id AS task_id, task.task_name AS name, line.line_arguments AS arguments, line.line_path AS path,
       line.line_directory AS working_directory
  FROM line JOIN task ON task.wanted_task_id = line.line_task_id
 WHERE line.place <= 64
 ORDER BY line.line_task_id, line.place;
