-- title: Which running tasks are stuck?
-- explanation: Running tasks with a process that is stuck now: in uninterruptible sleep for two minutes, or in a task of
--   which no process used the CPU or moved a byte for half an hour (incidents of kind stuck). One line for a task.
-- finding: top
-- parameter: seen_unix_ns time = 15m; only hosts that were heard of since
-- column: host_id id; the host
-- column: run_id id; the run
-- column: run text; name of the run
-- column: user_id user; whose run
-- column: task_id id; the task
-- column: task text; name of the task
-- column: tool text; tool of the process
-- column: since_unix_ns time; since when it has made no progress
-- column: stalled_ns duration; time without progress
-- column: process_count count; processes that are stuck
-- column: reason text; what was found
-- subject: task
-- sentence: {tool} of {task} has been stuck for {stalled_ns}
-- advice: See which of its processes waits (tracer show RUN).
WITH stall AS (
  SELECT host_id AS stall_host_id, task_id AS stall_task_id, process_id AS stall_process_id, unix_ns AS stall_unix_ns,
         sentence AS stall_sentence,
         row_number() OVER (PARTITION BY host_id, task_id ORDER BY unix_ns, id) AS place,
         count(*) OVER (PARTITION BY host_id, task_id) AS stall_count
    FROM incidents
   WHERE kind = 'stuck' AND end_boot_ns IS NULL AND task_id IS NOT NULL
     AND host_id IN (SELECT id FROM hosts WHERE last_seen_unix_ns >= :seen_unix_ns)
), stuck AS (
  SELECT host_id AS stuck_host_id, id AS stuck_id, program AS stuck_program
    FROM open_processes
   WHERE (host_id, id) IN (SELECT stall_host_id, stall_process_id FROM stall WHERE place = 1)
)
SELECT h.id AS host_id, r.id AS run_id, r.name AS run, r.user_id AS user_id, t.id AS task_id, t.name AS task,
       stuck.stuck_program AS tool, stall.stall_unix_ns AS since_unix_ns,
       h.last_seen_unix_ns - stall.stall_unix_ns AS stalled_ns, stall.stall_count AS process_count,
       stall.stall_sentence AS reason
  FROM stall
  JOIN stuck ON stuck.stuck_host_id = stall.stall_host_id AND stuck.stuck_id = stall.stall_process_id
  JOIN hosts h ON h.id = stall.stall_host_id
  JOIN open_tasks t ON t.host_id = stall.stall_host_id AND t.id = stall.stall_task_id
  JOIN standing_runs r ON r.host_id = t.host_id AND r.id = t.run_id
 WHERE stall.place = 1
 ORDER BY since_unix_ns, t.id;
