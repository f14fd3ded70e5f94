-- title: Which tasks are stuck or idle?
-- explanation: Running tasks with a process that makes no progress: stuck in uninterruptible sleep, or without CPU and
--   I/O for half an hour, alone (idle) or as all of its task (stuck). Tasks that have ended do not count. Held is the
--   memory of the task if it is stuck, else of the process.
-- finding: sweep
-- parameter: since_unix_ns time = 7d; only what was seen from then on
-- parameter: least_ns duration = 30m; minimum time without progress; source: our proposal (docs/sweep.md)
-- column: task_id id; the task
-- column: task text; name of the task
-- column: state text; stuck or idle
-- column: stalled_ns duration; time without progress
-- column: memory_bytes bytes; memory that is held
-- column: held_byte_seconds byte_seconds; that memory times that time
-- subject: task
-- impact: memory = held_byte_seconds
-- sentence: {task} of {run} has been {state} for {stalled_ns}, and holds {memory_bytes}
-- advice: See which of its processes waits (tracer show RUN).
WITH stall AS MATERIALIZED (
  SELECT host_id AS stall_host_id, task_id AS stall_task_id, kind AS stall_kind, min(unix_ns) AS stall_unix_ns,
         min(process_id) AS stall_process_id
    FROM incidents
   WHERE kind IN ('stuck', 'idle') AND end_boot_ns IS NULL AND task_id IS NOT NULL
   GROUP BY host_id, task_id, kind
), task AS (
  SELECT host_id AS task_host_id, id AS stalled_task_id, run_id AS task_run_id, name AS task_name, lost_count AS task_lost_count,
         peak_memory_bytes AS task_bytes
    FROM open_tasks
   WHERE (host_id, id) IN (SELECT stall_host_id, stall_task_id FROM stall)
), run AS (
  SELECT host_id AS run_host_id, id AS stalled_run_id, name AS run_name
    FROM runs
   WHERE process_count > 0 AND (host_id, id) IN (SELECT task_host_id, task_run_id FROM task)
), process AS (
  SELECT host_id AS process_host_id, id AS stalled_id, peak_rss_bytes AS stalled_bytes
    FROM processes
   WHERE (host_id, id) IN (SELECT stall_host_id, stall_process_id FROM stall)
)
SELECT h.id AS host_id, h.hostname AS hostname, stall.stall_unix_ns AS since_unix_ns,
       h.last_seen_unix_ns AS until_unix_ns, 1 AS is_now,
       CASE WHEN task.task_lost_count > 0 THEN 'likely' ELSE 'certain' END AS certainty, run.stalled_run_id AS run_id,
       run.run_name AS run, task.stalled_task_id AS task_id, task.task_name AS task, stall.stall_kind AS state,
       h.last_seen_unix_ns - stall.stall_unix_ns AS stalled_ns,
       CASE WHEN stall.stall_kind = 'stuck' THEN task.task_bytes
            ELSE process.stalled_bytes END AS memory_bytes,
       CAST(CASE WHEN stall.stall_kind = 'stuck' THEN task.task_bytes
                       ELSE process.stalled_bytes END
            * (1.0 * (h.last_seen_unix_ns - stall.stall_unix_ns) / 1000000000) AS BIGINT) AS held_byte_seconds
  FROM stall
  JOIN hosts h ON h.id = stall.stall_host_id
  JOIN task ON task.task_host_id = stall.stall_host_id AND task.stalled_task_id = stall.stall_task_id
  JOIN run ON run.run_host_id = task.task_host_id AND run.stalled_run_id = task.task_run_id
  LEFT JOIN process ON process.process_host_id = stall.stall_host_id AND process.stalled_id = stall.stall_process_id
 WHERE h.last_seen_unix_ns >= :since_unix_ns
   AND h.last_seen_unix_ns - stall.stall_unix_ns >= :least_ns
 ORDER BY stalled_ns DESC, task.stalled_task_id, stall.stall_kind;
