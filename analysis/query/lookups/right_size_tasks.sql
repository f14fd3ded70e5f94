-- Tasks, by name, with what they needed and had requested; of those that still run, so far: until their host was last seen.
-- :name only tasks of this name, or of runs of this name; :run_id, :host_id only tasks of this run;
-- :host, :user_id only tasks on this host, of runs of this user; NULL: all.
-- Left out: the system's own work and sessions; the driver's own task, unless the run has no other.
-- A memory limit is the task's own if its run has another limit or container, or no other task.
WITH oom AS (
  SELECT host_id AS oom_host_id, task_id AS oom_task_id FROM incidents
   WHERE kind = 'oom-kill' AND task_id IS NOT NULL AND (:host_id IS NULL OR host_id = :host_id)
), run AS (
  SELECT host_id AS run_host_id, id AS wanted_run_id, name AS run_name, task_count AS run_task_count,
         container_id AS run_container_id, memory_limit_bytes AS run_memory_limit_bytes
    FROM standing_runs
   WHERE kind NOT IN ('system', 'session')
     AND (:run_id IS NULL OR id = :run_id) AND (:host_id IS NULL OR host_id = :host_id)
     AND (:host IS NULL OR host = :host) AND (:user_id IS NULL OR user_id = :user_id)
), task AS (
  SELECT host_id AS task_host_id, id AS task_id, run_id AS task_run_id, name AS task_name, kind AS task_kind,
         status AS task_status, container_id AS task_container_id, started_unix_ns, begin_boot_ns, end_boot_ns, cpu_ns,
         run_delay_ns, rchar_bytes, concurrent_memory_bytes, unattributed_memory_bytes, peak_rss_bytes,
         memory_limit_bytes AS task_memory_limit_bytes
    FROM standing_tasks
   WHERE (:run_id IS NULL OR run_id = :run_id) AND (:host_id IS NULL OR host_id = :host_id)
), host AS (
  SELECT id AS seen_host_id, last_seen_unix_ns - boot_unix_ns AS seen_boot_ns FROM hosts
)
SELECT task.task_id AS task_id, task.task_run_id AS run_id, task.task_name AS name,
       CASE WHEN task.task_status = 'succeeded' THEN 1 ELSE 0 END AS has_succeeded,
       CASE WHEN (task.task_host_id, task.task_id) IN (SELECT oom_host_id, oom_task_id FROM oom)
            THEN 1 ELSE 0 END AS is_oom_killed,
       CASE WHEN task.end_boot_ns IS NULL THEN 1 ELSE 0 END AS is_running,
       task.started_unix_ns AS started_unix_ns, task.begin_boot_ns AS begin_boot_ns,
       coalesce(task.end_boot_ns, host.seen_boot_ns) AS end_boot_ns, task.cpu_ns AS cpu_ns, task.run_delay_ns AS run_delay_ns,
       task.rchar_bytes AS rchar_bytes, task.concurrent_memory_bytes AS concurrent_memory_bytes,
       task.unattributed_memory_bytes AS unattributed_memory_bytes,
       task.peak_rss_bytes AS peak_rss_bytes, task.task_memory_limit_bytes AS memory_limit_bytes,
       CASE WHEN run.run_task_count = 0
                 OR coalesce(task.task_container_id, 0) <> coalesce(run.run_container_id, 0)
                 OR coalesce(task.task_memory_limit_bytes, 0) <> coalesce(run.run_memory_limit_bytes, 0)
            THEN 1 ELSE 0 END AS limit_is_own
  FROM task JOIN run ON run.run_host_id = task.task_host_id AND run.wanted_run_id = task.task_run_id
       LEFT JOIN host ON host.seen_host_id = task.task_host_id
 WHERE (task.task_kind <> 'main' OR run.run_task_count = 0)
   AND (:name IS NULL OR task.task_name = :name OR run.run_name = :name)
 ORDER BY task.task_name, task.started_unix_ns, task.task_id;
