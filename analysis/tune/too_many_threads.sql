-- title: Which tasks had more threads than processors?
-- explanation: Tasks in which processes of one program had more threads at a time than processors that they may use
--   (affinity, cpuset, CPU quota), and these wanted more processors than there are and waited for each other. Processes
--   that mostly slept do not count, and neither do tasks that waited for their quota: those that have less than one
--   processor, and those that waited up to twice the time for which it stopped them (throttled). Threads are counted by process scans: a process that none has seen counts as one
--   thread. What it costs is not in the counters (cache misses, spinning), so no saving is claimed.
-- finding: tune
-- parameter: run_id run = latest; the run
-- parameter: least_share share = 30%; minimum share of the wait for a processor in CPU time and that wait; source: our proposal, tested with planted faults (docs/tune.md)
-- parameter: least_load_share share = 120%; minimum number of threads that run or wait, in shares of the processors; source: ClusterCockpit (load above 1.2 × processors)
-- parameter: least_busy_share share = 50%; minimum time in which a process computed or waited for a processor, in shares of its wall time; source: our proposal
-- parameter: least_ns duration = 1s; minimum wait of a task
-- column: task_id id; the task
-- column: name text; name of the tasks
-- column: thread_count count; most threads at a time
-- column: what text; threads, or processes of one thread each
-- column: options text; of programs that set their number
-- column: cpu_count count; processors that they may use
-- column: wait_ns duration; time in which its threads waited for a processor
-- column: wait_share share; its share in CPU time and that wait
-- column: saved_ns duration; wall time that is certainly saved: unknown, shown as 0
-- subject: name
-- impact: wall = saved_ns
-- sentence: {name} ran up to {thread_count} {what} on {cpu_count} processor(s): they waited {wait_ns} for each other, {wait_share} of their active time
-- advice: Start it with {cpu_count} of them ({options}).
WITH task AS (
  SELECT t.id AS id, t.name AS task_name, t.run_delay_ns AS task_wait_ns, t.cpu_ns AS task_cpu_ns, t.wall_ns AS task_wall_ns,
         CASE WHEN t.core_limit_milli > 0 THEN CAST(0.999 + 0.001 * t.core_limit_milli AS BIGINT)
              WHEN h.core_limit_milli > 0 THEN CAST(0.999 + 0.001 * h.core_limit_milli AS BIGINT)
              ELSE h.cpu_count END AS may_use_count
    FROM standing_tasks t JOIN hosts h ON h.id = t.host_id
   WHERE t.host_id = :host_id AND t.run_id = :run_id AND t.wall_ns > 0 AND t.run_delay_ns >= :least_ns
     AND t.run_delay_ns >= :least_share * (t.cpu_ns + t.run_delay_ns)
     AND (t.core_limit_milli IS NULL OR t.core_limit_milli >= 1000)
     AND t.run_delay_ns > 2 * coalesce(t.throttled_ns, 0) + :least_ns
), process AS (
  SELECT id AS own_id, task_id AS own_task_id, program AS own_program, begin_boot_ns AS own_begin_ns, end_boot_ns AS own_end_ns,
         cpu_ns + coalesce(run_delay_ns, 0) AS own_busy_ns
    FROM processes
   WHERE host_id = :host_id
     AND tool_id IN (SELECT id FROM tools WHERE host_id = :host_id AND task_id IN (SELECT id FROM task))
), threads AS (
  SELECT process_id AS threads_of_id, max(thread_count) AS most_count
    FROM placed_samples
   WHERE host_id = :host_id AND process_id IN (SELECT own_id FROM process)
   GROUP BY process_id
), busy AS (
  SELECT process.own_task_id AS busy_task_id, process.own_program AS busy_program, process.own_begin_ns AS busy_begin_ns,
         process.own_end_ns AS busy_end_ns, coalesce(threads.most_count, 1) AS busy_count
    FROM process LEFT JOIN threads ON threads.threads_of_id = process.own_id
   WHERE process.own_busy_ns >= :least_busy_share * (coalesce(process.own_end_ns, process.own_begin_ns) - process.own_begin_ns)
), step AS (
  SELECT busy_task_id AS step_task_id, busy_program AS step_program, busy_begin_ns AS step_ns, busy_count AS step_count,
         busy_count AS one_count
    FROM busy
   UNION ALL
  SELECT busy_task_id, busy_program, busy_end_ns, -busy_count, busy_count
    FROM busy
   WHERE busy_end_ns IS NOT NULL
), running AS (
  SELECT step_task_id, one_count,
         sum(step_count) OVER (PARTITION BY step_task_id, step_program ORDER BY step_ns, step_count
                               ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS at_once_count
    FROM step
), counted AS (
  SELECT step_task_id AS counted_task_id, max(one_count) AS of_one_count, max(at_once_count) AS most_count
    FROM running
   GROUP BY step_task_id
)
SELECT task.id AS task_id, task.task_name AS name, counted.most_count AS thread_count,
       CASE WHEN counted.of_one_count > 1 THEN 'threads' ELSE 'processes' END AS what,
       CASE WHEN counted.of_one_count > 1 THEN '-t, -@, --threads, OMP_NUM_THREADS' ELSE '--workers, -j, -P' END AS options,
       task.may_use_count AS cpu_count, task.task_wait_ns AS wait_ns,
       1.0 * task.task_wait_ns / (task.task_cpu_ns + task.task_wait_ns) AS wait_share, 0 AS saved_ns
  FROM task JOIN counted ON counted.counted_task_id = task.id
 WHERE counted.most_count > task.may_use_count
   AND task.task_cpu_ns + task.task_wait_ns > :least_load_share * task.task_wall_ns * task.may_use_count
 ORDER BY wait_ns DESC, task_id;
