-- How many tasks at a time the command line of a run's engine asks for.
-- :run_id the run; :host_id its host.
SELECT max(requested_thread_count) AS job_count
  FROM standing_tools
 WHERE host_id = :host_id AND role = 'orchestrator'
   AND task_id IN (SELECT id FROM tasks WHERE host_id = :host_id AND run_id = :run_id AND kind = 'main');
