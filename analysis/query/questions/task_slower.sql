-- title: Which tasks take longer than usual?
-- explanation: Running tasks that have lasted longer than those of the same name that succeeded before, in this run or
--   earlier ones of the same name, user and kind on the same host: longer than the longest of these times a factor. The
--   factor and the number of tasks are higher than for runs, since a run may have thousands of tasks at once: in simulated
--   histories of twenty tasks that differ by half (log-normal, sigma 0.5), 0.1 % of normal tasks were called slow
--   (docs/live.md).
-- finding: top
-- parameter: seen_unix_ns time = 15m; only hosts that were heard of since
-- parameter: since_unix_ns time = 30d; only runs that began from then on
-- parameter: least_count count = 20; minimum number of tasks before; source: our proposal, simulated (docs/live.md)
-- parameter: least_ratio number = 2; minimum wall time, as a multiple of the longest task before; source: our proposal,
--   simulated (docs/live.md)
-- parameter: least_ns duration = 1m; minimum time beyond the longest task before; source: our proposal (docs/live.md)
-- column: host_id id; the host
-- column: run_id id; the run
-- column: run text; name of the run
-- column: user_id user; whose run
-- column: task_id id; the task
-- column: task text; name of the task
-- column: since_unix_ns time; when it became slower than usual
-- column: wall_ns duration; how long it has been running
-- column: earlier_count count; tasks of this name that succeeded
-- column: longest_ns duration; longest wall time of these
-- subject: task
-- sentence: {task} running for {wall_ns}; {earlier_count} earlier ones took at most {longest_ns}
-- advice: See what it does now (tracer top).
WITH living AS (
  SELECT host_id AS living_host_id, id AS living_id, name AS living_name, kind AS living_kind, user_id AS living_user_id
    FROM work_runs
   WHERE end_boot_ns IS NULL AND is_service = 0
     AND host_id IN (SELECT id FROM hosts WHERE last_seen_unix_ns >= :seen_unix_ns)
), named AS (
  SELECT host_id AS named_host_id, id AS named_id, name AS named_name, kind AS named_kind, user_id AS named_user_id
    FROM work_runs
   WHERE started_unix_ns >= :since_unix_ns
     AND (host_id, name, kind, user_id) IN (SELECT living_host_id, living_name, living_kind, living_user_id FROM living)
), open AS (
  SELECT host_id AS open_host_id, id AS open_id, run_id AS open_run_id, name AS open_name, begin_boot_ns AS open_boot_ns,
         started_unix_ns AS open_unix_ns
    FROM open_tasks
   WHERE kind <> 'main' AND (host_id, run_id) IN (SELECT living_host_id, living_id FROM living)
), done AS (
  SELECT host_id AS done_host_id, run_id AS done_run_id, name AS done_name, wall_ns AS done_ns
    FROM standing_tasks
   WHERE status = 'succeeded' AND kind <> 'main' AND end_boot_ns IS NOT NULL
     AND (host_id, run_id) IN (SELECT named_host_id, named_id FROM named)
     AND (host_id, name) IN (SELECT open_host_id, open_name FROM open)
), usual AS (
  SELECT named.named_host_id AS usual_host_id, named.named_name AS usual_run, named.named_kind AS usual_kind,
         named.named_user_id AS usual_user_id, done.done_name AS usual_name, count(*) AS usual_count,
         max(done.done_ns) AS usual_longest_ns
    FROM done
    JOIN named ON named.named_host_id = done.done_host_id AND named.named_id = done.done_run_id
   GROUP BY named.named_host_id, named.named_name, named.named_kind, named.named_user_id, done.done_name
  HAVING count(*) >= :least_count
), found AS (
  SELECT open.open_host_id AS found_host_id, open.open_id AS found_id, open.open_name AS found_name,
         living.living_id AS found_run_id, living.living_name AS found_run, living.living_user_id AS found_user_id,
         open.open_unix_ns AS found_unix_ns, h.last_seen_unix_ns - open.open_unix_ns AS found_wall_ns,
         usual.usual_count AS found_count, usual.usual_longest_ns AS found_longest_ns,
         CASE WHEN :least_ratio * usual.usual_longest_ns >= usual.usual_longest_ns + :least_ns
              THEN CAST(:least_ratio * usual.usual_longest_ns AS BIGINT)
              ELSE usual.usual_longest_ns + :least_ns END AS most_ns
    FROM open
    JOIN hosts h ON h.id = open.open_host_id
    JOIN living ON living.living_host_id = open.open_host_id AND living.living_id = open.open_run_id
    JOIN usual ON usual.usual_host_id = living.living_host_id AND usual.usual_run = living.living_name
              AND usual.usual_kind = living.living_kind AND usual.usual_user_id = living.living_user_id
              AND usual.usual_name = open.open_name
)
SELECT found_host_id AS host_id, found_run_id AS run_id, found_run AS run, found_user_id AS user_id, found_id AS task_id,
       found_name AS task, found_unix_ns + most_ns AS since_unix_ns, found_wall_ns AS wall_ns,
       found_count AS earlier_count, found_longest_ns AS longest_ns
  FROM found
 WHERE found_wall_ns > most_ns
 ORDER BY since_unix_ns, found_id;
