-- The ended tasks of runs of a name, or of one run, without the runs' own pseudo-tasks.
-- :name the complete name of the runs, or NULL; :run_id the run, or NULL; :since_unix_ns runs that began since;
-- :host, :user_id as in history_runs.sql.
-- A run that several hosts share has tasks on all of them.
WITH named AS (
  SELECT id AS named_id, run_key AS named_key FROM standing_runs
   WHERE (name = :name OR id = :run_id) AND started_unix_ns >= :since_unix_ns
     AND (:host IS NULL OR host = :host) AND (:user_id IS NULL OR user_id = :user_id)
), wanted AS (
  SELECT id AS wanted_id FROM joined_runs
   WHERE run_key IN (SELECT named_key FROM named WHERE named_key IS NOT NULL)
   UNION ALL
  SELECT named_id AS wanted_id FROM named
)
SELECT id AS task_id, run_id, name, label, status, lost_count, wall_ns, cpu_ns, peak_rss_bytes, read_bytes, rchar_bytes,
       gpu_busy_ns
  FROM standing_tasks
 WHERE run_id IN (SELECT wanted_id FROM wanted) AND kind <> 'main' AND started_unix_ns >= :since_unix_ns
   AND end_boot_ns IS NOT NULL
 ORDER BY run_id, name, label, id;
