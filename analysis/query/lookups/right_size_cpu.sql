-- CPU time that the processes of tasks had used at each of their samples and at their end, by task, process and time.
-- :name only tasks of this name, or of runs of this name; :run_id, :host_id only tasks of this run;
-- :host, :user_id only tasks on this host, of runs of this user; NULL: all.
WITH run AS (
  SELECT host_id AS run_host_id, id AS wanted_run_id, name AS run_name FROM standing_runs
   WHERE kind NOT IN ('system', 'session')
     AND (:run_id IS NULL OR id = :run_id) AND (:host_id IS NULL OR host_id = :host_id)
     AND (:host IS NULL OR host = :host) AND (:user_id IS NULL OR user_id = :user_id)
), task AS (
  SELECT t.host_id AS task_host_id, t.id AS wanted_task_id
    FROM standing_tasks t JOIN run ON run.run_host_id = t.host_id AND run.wanted_run_id = t.run_id
   WHERE (:name IS NULL OR t.name = :name OR run.run_name = :name)
), process AS (
  SELECT p.host_id AS process_host_id, p.id AS wanted_process_id, p.task_id AS process_task_id,
         p.begin_boot_ns AS first_boot_ns, p.end_boot_ns AS last_boot_ns, p.cpu_ns AS last_cpu_ns,
         CASE WHEN p.began = 'found' THEN 1 ELSE 0 END AS is_found
    FROM processes p
   WHERE p.cpu_ns > 0
     AND p.tool_id IN (SELECT id FROM standing_tools
                        WHERE (host_id, task_id) IN (SELECT task_host_id, wanted_task_id FROM task))
), reading AS (
  SELECT process.process_task_id AS task_id, process.wanted_process_id AS process_id,
         process.first_boot_ns AS begin_boot_ns, s.boot_ns AS boot_ns, s.cpu_ns AS cpu_ns, 1 AS is_sample,
         s.thread_count AS thread_count, process.is_found AS is_found
    FROM process JOIN placed_samples s
      ON s.host_id = process.process_host_id AND s.process_id = process.wanted_process_id
   WHERE s.cpu_ns IS NOT NULL
   UNION ALL
  SELECT process_task_id AS task_id, wanted_process_id AS process_id, first_boot_ns AS begin_boot_ns,
         last_boot_ns AS boot_ns, last_cpu_ns AS cpu_ns, 0 AS is_sample,
         NULL AS thread_count, is_found
    FROM process
   WHERE last_boot_ns IS NOT NULL
)
SELECT task_id, process_id, begin_boot_ns, boot_ns, cpu_ns, is_sample, thread_count, is_found FROM reading
 ORDER BY task_id, process_id, boot_ns, is_sample DESC;
