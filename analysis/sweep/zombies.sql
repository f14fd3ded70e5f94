-- title: Which programs do not reap their children?
-- explanation: Running processes with a hundred ended children or more that they have not reaped in ten minutes (zombies).
--   They hold no processor or memory, but each a process id: a cgroup (pids.max) and a host have a limited number.
-- finding: sweep
-- parameter: since_unix_ns time = 7d; only what was seen from then on
-- parameter: least_ns duration = 10m; minimum time; source: our proposal (docs/sweep.md)
-- column: user_id user; whose program
-- column: what text; the program, and how many children it has not reaped
-- column: held_ns duration; since it has a hundred
-- column: held_cpu_ns duration; unknown: process ids have no price
-- subject: what
-- impact: cpu = held_cpu_ns
-- sentence: On {hostname}, {what} (as user {user_id}, for {held_ns})
-- advice: Restart it, and have it wait for its children (in a container: docker run --init); when process ids run out,
--   nothing can be started there.
WITH zombies AS MATERIALIZED (
  SELECT host_id AS zombies_host_id, run_id AS zombies_run_id, process_id AS zombies_process_id,
         unix_ns AS zombies_unix_ns, sentence AS zombies_sentence
    FROM incidents
   WHERE kind = 'zombies' AND end_boot_ns IS NULL
), holder AS (
  SELECT host_id AS holder_host_id, id AS holder_id, user_id AS holder_user_id
    FROM open_processes
   WHERE (host_id, id) IN (SELECT zombies_host_id, zombies_process_id FROM zombies)
)
SELECT h.id AS host_id, h.hostname AS hostname, zombies.zombies_unix_ns AS since_unix_ns,
       h.last_seen_unix_ns AS until_unix_ns, 1 AS is_now, 'certain' AS certainty, r.id AS run_id, r.name AS run,
       holder.holder_user_id AS user_id, zombies.zombies_sentence AS what,
       h.last_seen_unix_ns - zombies.zombies_unix_ns AS held_ns, NULL AS held_cpu_ns
  FROM zombies
  JOIN hosts h ON h.id = zombies.zombies_host_id
  JOIN holder ON holder.holder_host_id = zombies.zombies_host_id AND holder.holder_id = zombies.zombies_process_id
  JOIN standing_runs r ON r.host_id = zombies.zombies_host_id AND r.id = zombies.zombies_run_id
 WHERE (r.host_id, r.id) IN (SELECT zombies_host_id, zombies_run_id FROM zombies) -- else a lake reads all runs
   AND h.last_seen_unix_ns >= :since_unix_ns AND h.last_seen_unix_ns - zombies.zombies_unix_ns >= :least_ns
 ORDER BY held_ns DESC, holder.holder_id;
