-- The tasks of a run by id, and their names, without the run's own pseudo-task.
-- :run_id the run; :host_id its host.
SELECT id AS task_id, name
  FROM standing_tasks
 WHERE host_id = :host_id AND run_id = :run_id AND kind <> 'main'
 ORDER BY id;
