-- Runs and tasks that ended lately, by host and status, for tracer metrics. Not the total: old runs are deleted.
-- :since_unix_ns what ended before it is left out; :host only the hosts of this name, :user_id only runs of this user,
-- NULL: all.
WITH ended AS (
  SELECT host_id AS of_host_id, status AS of_status, 1 AS a_run, 0 AS a_task
    FROM work_runs
   WHERE end_unix_ns >= :since_unix_ns AND (:user_id IS NULL OR user_id = :user_id)
   UNION ALL
  SELECT host_id, status, 0, 1
    FROM standing_tasks
   WHERE kind <> 'main' AND started_unix_ns + wall_ns >= :since_unix_ns
     AND run_id IN (SELECT id FROM work_runs
                     WHERE (end_boot_ns IS NULL OR end_unix_ns >= :since_unix_ns)
                       AND (:user_id IS NULL OR user_id = :user_id))
)
SELECT h.cluster AS cluster, h.hostname AS host, ended.of_status AS status, sum(ended.a_run) AS run_count,
       sum(ended.a_task) AS task_count
  FROM ended JOIN hosts h ON h.id = ended.of_host_id
 WHERE :host IS NULL OR h.hostname = :host
 GROUP BY h.cluster, h.hostname, ended.of_status
 ORDER BY host, cluster NULLS FIRST, status;
