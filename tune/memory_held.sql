-- title: Which tasks held memory while they slept?
-- explanation: Tasks that held much memory and neither computed nor waited for a processor, for storage or for memory: they waited
--   for a lock, a socket, a timer or a person. Others on the host could not use the memory meanwhile. It is taken to be held
--   for all of that time, at its peak.
-- finding: tune
-- parameter: run_id run = latest; the run
-- parameter: most_share share = 10%; maximum share of a task's time in which a thread of it was active; source: our proposal
-- parameter: least_bytes bytes = 512M; minimum memory of a task
-- parameter: least_ns duration = 1m; minimum time asleep of a task
-- column: task_id id; the task
-- column: name text; name of the tasks
-- column: task_count count; tasks of this name
-- column: memory_bytes bytes; the most that one of them held
-- column: asleep_ns duration; time in which no thread of them was active
-- column: cpu_share share; CPU time of all in shares of their wall time
-- column: held_byte_seconds byte_seconds; memory of this task times its time asleep
-- subject: name
-- impact: memory = held_byte_seconds
-- sentence: {task_count} × {name} held {memory_bytes} and slept for {asleep_ns}; CPU time was {cpu_share} of the wall time
-- advice: Let it load its data when it can work, or end while it waits.
WITH task AS (
  SELECT id, name AS task_name, wall_ns AS task_wall_ns, cpu_ns AS task_cpu_ns,
         wall_ns - cpu_ns - coalesce(run_delay_ns, 0) - coalesce(block_io_delay_ns, uninterruptible_ns, 0)
           - coalesce(memory_delay_ns, 0) AS task_asleep_ns,
         CASE WHEN coalesce(concurrent_memory_bytes, 0) > coalesce(peak_rss_bytes, 0) THEN concurrent_memory_bytes
              ELSE peak_rss_bytes END AS task_memory_bytes
    FROM standing_tasks
   WHERE host_id = :host_id AND run_id = :run_id AND wall_ns > 0 AND cpu_ns IS NOT NULL
), asleep AS (
  SELECT id, task_name, task_wall_ns, task_cpu_ns, task_asleep_ns, task_memory_bytes
    FROM task
   WHERE task_memory_bytes >= :least_bytes AND task_asleep_ns >= :least_ns
     AND task_asleep_ns >= (1 - :most_share) * task_wall_ns
), total AS (
  SELECT task_name AS total_name, count(*) AS all_count, max(task_memory_bytes) AS most_bytes,
         sum(task_asleep_ns) AS all_asleep_ns, sum(task_cpu_ns) AS all_cpu_ns, sum(task_wall_ns) AS all_wall_ns
    FROM asleep
   GROUP BY task_name
)
SELECT asleep.id AS task_id, asleep.task_name AS name, total.all_count AS task_count, total.most_bytes AS memory_bytes,
       total.all_asleep_ns AS asleep_ns, 1.0 * total.all_cpu_ns / total.all_wall_ns AS cpu_share,
       CAST(0.000000001 * asleep.task_asleep_ns * asleep.task_memory_bytes AS BIGINT) AS held_byte_seconds
  FROM asleep JOIN total ON total.total_name = asleep.task_name
 ORDER BY held_byte_seconds DESC, task_id;
