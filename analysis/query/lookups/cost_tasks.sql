-- Tasks that ran in a time, host by host and run by run, with what divides the cost of the host among them.
-- :since_unix_ns, :until_unix_ns the time; :first_host_id, :last_host_id the hosts, all with ids from one to the other.
-- A memory limit that a task shares with the others of its run is the run's, not its own; and that of a run outside
-- batch systems, containers and services is its slice's, which was not requested for this run.
-- The processors of a job of a batch system are reserved for it; a container's quota or a process's affinity reserves none.
-- needs: all users
WITH run AS (
  SELECT host_id AS run_host_id, id AS run_id, started_unix_ns AS run_unix_ns, name AS run, kind AS run_kind, user_id,
         container_id AS run_container_id, memory_limit_bytes AS run_memory_limit_bytes,
         core_limit_milli AS run_core_limit_milli
    FROM standing_runs
   WHERE started_unix_ns < :until_unix_ns AND host_id >= :first_host_id AND host_id <= :last_host_id
), container AS (
  SELECT host_id AS cgroup_host_id, id AS cgroup_container_id, cgroup_path
    FROM containers
   WHERE host_id >= :first_host_id AND host_id <= :last_host_id
), task AS (
  SELECT host_id AS task_host_id, id AS task_id, run_id AS task_run_id, name AS task, container_id AS task_container_id,
         started_unix_ns AS begin_unix_ns, started_unix_ns + wall_ns AS end_unix_ns, cpu_ns,
         peak_memory_bytes AS memory_bytes,
         memory_limit_bytes AS task_memory_limit_bytes
    FROM standing_tasks
   WHERE started_unix_ns < :until_unix_ns AND host_id >= :first_host_id AND host_id <= :last_host_id
     AND (wall_ns IS NULL OR started_unix_ns + wall_ns > :since_unix_ns)
)
SELECT task.task_host_id AS host_id, task.task_run_id AS run_id, run.run AS run, run.run_kind AS run_kind,
       container.cgroup_path AS run_cgroup_path,
       run.user_id AS user_id, task.task_id AS task_id, task.task AS task, task.begin_unix_ns AS begin_unix_ns,
       task.end_unix_ns AS end_unix_ns, task.cpu_ns AS cpu_ns, task.memory_bytes AS memory_bytes,
       CASE WHEN coalesce(task.task_container_id, 0) <> coalesce(run.run_container_id, 0)
                 OR coalesce(task.task_memory_limit_bytes, 0) <> coalesce(run.run_memory_limit_bytes, 0)
            THEN task.task_memory_limit_bytes END AS memory_limit_bytes,
       CASE WHEN run.run_container_id IS NOT NULL OR run.run_kind IN ('batch', 'container', 'service', 'host-service')
            THEN run.run_memory_limit_bytes END AS run_memory_limit_bytes,
       CASE WHEN run.run_kind = 'batch' THEN run.run_core_limit_milli END AS run_core_limit_milli
  FROM task JOIN run ON run.run_host_id = task.task_host_id AND run.run_id = task.task_run_id
  LEFT JOIN container ON container.cgroup_host_id = run.run_host_id
                     AND container.cgroup_container_id = run.run_container_id
 ORDER BY task.task_host_id, run.run_unix_ns, task.task_run_id, task.begin_unix_ns, task.task_id;
