-- title: Which tasks had more threads than processors?
-- explanation: Tasks with a process of more threads than processors that it may use (affinity, cpuset, CPU quota), whose threads wanted more processors
--   than there are and waited for each other. Threads are counted by process scans: tasks shorter than a scan
--   are not found. What it costs is not in the counters (cache misses, spinning), so no saving is claimed.
-- finding: tune
-- parameter: run_id run = latest; the run
-- parameter: least_share share = 30%; minimum share of the wait for a processor in CPU time and that wait; source: our proposal, tested with planted faults (docs/tune.md)
-- parameter: least_load_share share = 120%; minimum number of threads that run or wait, in shares of the processors; source: ClusterCockpit (load above 1.2 × processors)
-- parameter: least_ns duration = 1s; minimum wait of a task
-- column: task_id id; the task
-- column: name text; name of the tasks
-- column: thread_count count; most threads of one process
-- column: cpu_count count; processors that it may use
-- column: wait_ns duration; time in which its threads waited for a processor
-- column: wait_share share; its share in CPU time and that wait
-- column: saved_ns duration; wall time that is certainly saved: unknown, shown as 0
-- subject: name
-- impact: wall = saved_ns
-- sentence: {name} ran up to {thread_count} threads on {cpu_count} processors: they waited {wait_ns} for each other, {wait_share} of their active time
-- advice: Start it with {cpu_count} threads (-t, -@, --threads, OMP_NUM_THREADS).
WITH task AS (
  SELECT t.id AS id, t.name AS task_name, t.run_delay_ns AS task_wait_ns, t.cpu_ns AS task_cpu_ns, t.wall_ns AS task_wall_ns,
         CASE WHEN t.core_limit_milli > 0 THEN CAST(0.999 + 0.001 * t.core_limit_milli AS BIGINT)
              WHEN h.core_limit_milli > 0 THEN CAST(0.999 + 0.001 * h.core_limit_milli AS BIGINT)
              ELSE h.cpu_count END AS may_use_count
    FROM standing_tasks t JOIN hosts h ON h.id = t.host_id
   WHERE t.host_id = :host_id AND t.run_id = :run_id AND t.wall_ns > 0 AND t.run_delay_ns >= :least_ns
     AND t.run_delay_ns >= :least_share * (t.cpu_ns + t.run_delay_ns)
     AND t.run_delay_ns > coalesce(t.throttled_ns, 0) + :least_ns
), process AS (
  SELECT id AS own_id, task_id AS own_task_id
    FROM processes
   WHERE host_id = :host_id
     AND tool_id IN (SELECT id FROM tools WHERE host_id = :host_id AND task_id IN (SELECT id FROM task))
), counted AS (
  SELECT process.own_task_id AS counted_task_id, max(s.thread_count) AS most_count
    FROM process JOIN placed_samples s ON s.process_id = process.own_id
   WHERE s.host_id = :host_id
   GROUP BY process.own_task_id
)
SELECT task.id AS task_id, task.task_name AS name, counted.most_count AS thread_count,
       task.may_use_count AS cpu_count, task.task_wait_ns AS wait_ns,
       1.0 * task.task_wait_ns / (task.task_cpu_ns + task.task_wait_ns) AS wait_share, 0 AS saved_ns
  FROM task JOIN counted ON counted.counted_task_id = task.id
 WHERE counted.most_count > task.may_use_count
   AND task.task_cpu_ns + task.task_wait_ns > :least_load_share * task.task_wall_ns * task.may_use_count
 ORDER BY wait_ns DESC, task_id;
