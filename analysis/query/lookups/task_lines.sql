-- First command lines of the tasks of a run that have no label: of each, those of three tools, helpers last.
-- :run_id the run; :host_id its host.
-- Tools that an engine wraps a task in and parts of other tools tell nothing of what a task works on. What code starts
-- (`bash -c`) says more than the arguments of the code.
WITH task AS (
  SELECT id AS wanted_task_id, name AS task_name
    FROM standing_tasks
   WHERE host_id = :host_id AND run_id = :run_id AND kind <> 'main' AND label IS NULL
), tool AS (
  SELECT id AS wanted_tool_id, name AS tool_name, begin_boot_ns AS tool_begin_boot_ns,
         row_number() OVER (PARTITION BY task_id
                            ORDER BY CASE WHEN role = 'helper' THEN 2 WHEN replace(name, ' -', '') <> name THEN 1 ELSE 0 END,
                                     begin_boot_ns, id) AS place
    FROM standing_tools
   WHERE host_id = :host_id AND role NOT IN ('wrapper', 'component')
     AND task_id IN (SELECT wanted_task_id FROM task)
), line AS (
  SELECT processes.task_id AS line_task_id, tool.tool_name AS line_tool, processes.arguments AS line_arguments,
         tool.place AS line_place
    FROM processes JOIN tool ON tool.wanted_tool_id = processes.tool_id
                            AND tool.tool_begin_boot_ns = processes.begin_boot_ns
   WHERE processes.host_id = :host_id AND length(processes.arguments) > 0 AND tool.place <= 3
     AND processes.tool_id IN (SELECT id FROM tools
                                WHERE host_id = :host_id
                                  AND task_id IN (SELECT id FROM tasks WHERE host_id = :host_id AND run_id = :run_id))
)
SELECT line.line_task_id AS task_id, task.task_name AS name, line.line_tool AS tool, line.line_arguments AS arguments
  FROM line JOIN task ON task.wanted_task_id = line.line_task_id
 ORDER BY task_id, line.line_place;
