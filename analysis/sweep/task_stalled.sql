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
), process AS (
  SELECT host_id AS process_host_id, id AS stalled_id, peak_rss_bytes AS stalled_bytes
    FROM processes
   WHERE (host_id, id) IN (SELECT stall_host_id, stall_process_id FROM stall)
)
SELECT h.id AS host_id, h.hostname AS hostname, stall.stall_unix_ns AS since_unix_ns,
       h.last_seen_unix_ns AS until_unix_ns, 1 AS is_now,
       CASE WHEN t.lost_count > 0 THEN 'likely' ELSE 'certain' END AS certainty, r.id AS run_id, r.name AS run,
       t.id AS task_id, t.name AS task, stall.stall_kind AS state,
       h.last_seen_unix_ns - stall.stall_unix_ns AS stalled_ns,
       CASE WHEN stall.stall_kind = 'stuck' THEN t.needed_bytes
            ELSE process.stalled_bytes END AS memory_bytes,
       CAST(CASE WHEN stall.stall_kind = 'stuck' THEN t.needed_bytes
                       ELSE process.stalled_bytes END
            * (1.0 * (h.last_seen_unix_ns - stall.stall_unix_ns) / 1000000000) AS BIGINT) AS held_byte_seconds
  FROM stall
  JOIN hosts h ON h.id = stall.stall_host_id
  JOIN open_tasks t ON t.host_id = stall.stall_host_id AND t.id = stall.stall_task_id
  JOIN standing_runs r ON r.host_id = t.host_id AND r.id = t.run_id
  LEFT JOIN process ON process.process_host_id = stall.stall_host_id AND process.stalled_id = stall.stall_process_id
 WHERE h.last_seen_unix_ns >= :since_unix_ns
   AND h.last_seen_unix_ns - stall.stall_unix_ns >= :least_ns
 ORDER BY stalled_ns DESC, t.id, stall.stall_kind;
