-- title: Which runs are near their memory limit?
-- explanation: Running runs whose processes hold almost all the memory that their cgroup allows (a batch job's, a
--   container's, a service's), by their latest samples: anonymous and shared memory, which cannot be dropped as page cache
--   can, what they share counted once, and never more than the cgroup's peak. So the figure is a lower bound: others in the
--   cgroup, files in memory, the kernel's memory and page cache in use come on top. Task and tool are those of the largest
--   process.
-- finding: top
-- parameter: seen_unix_ns time = 15m; only hosts that were heard of since
-- parameter: least_share share = 90%; minimum share of the limit; source: our proposal (docs/live.md)
-- parameter: recent_ns duration = 1h; time that is searched for samples: a process that did nothing for longer does not count
-- column: host_id id; the host
-- column: run_id id; the run
-- column: run text; name of the run
-- column: user_id user; whose run
-- column: task_id id; the task
-- column: task text; name of the task
-- column: tool text; program of the largest process
-- column: since_unix_ns time; when the largest process was last sampled
-- column: memory_bytes bytes; memory that they hold
-- column: memory_limit_bytes bytes; memory limit of the cgroup
-- column: memory_share share; share of the limit
-- column: largest_bytes bytes; memory of the largest process, without what it shares with others
-- column: container text; name of the container, if it is in one
-- subject: run
-- sentence: {memory_bytes} of memory in use, {memory_share} of the limit of {memory_limit_bytes}; {largest_bytes} of it by {tool} of {task}
-- advice: Request more, or let it use less: at the limit the kernel kills it (tracer tune --right-size).
WITH limited AS ( -- with a peak that is high enough, which page cache alone may explain
  SELECT host_id AS limited_host_id, id AS limited_run_id, 0 AS limited_container_id, NULL AS limited_container,
         memory_limit_bytes AS limit_bytes, cgroup_peak_bytes AS peak_bytes
    FROM work_runs
   WHERE end_boot_ns IS NULL AND cgroup_peak_bytes >= :least_share * memory_limit_bytes
     AND host_id IN (SELECT id FROM hosts WHERE last_seen_unix_ns >= :seen_unix_ns)
   UNION ALL
  SELECT host_id, run_id, id, name, memory_limit_bytes, cgroup_peak_bytes
    FROM containers
   WHERE end_boot_ns IS NULL AND run_id IS NOT NULL AND cgroup_peak_bytes >= :least_share * memory_limit_bytes
     AND host_id IN (SELECT id FROM hosts WHERE last_seen_unix_ns >= :seen_unix_ns)
), member AS (
  SELECT host_id AS member_host_id, run_id AS member_run_id, task_id AS member_task_id, id AS member_id,
         coalesce(container_id, 0) AS member_container_id, program AS member_program
    FROM open_processes
   WHERE (host_id, run_id) IN (SELECT limited_host_id, limited_run_id FROM limited)
), newest AS ( -- `boot_ns` limits what a store reads, `unix_ns` what a lake does
  SELECT host_id AS newest_host_id, process_id AS newest_id, max(boot_ns) AS newest_boot_ns
    FROM placed_samples
   WHERE (host_id, process_id) IN (SELECT member_host_id, member_id FROM member)
     AND unix_ns >= :seen_unix_ns - :recent_ns
     AND boot_ns >= (SELECT min(:seen_unix_ns - :recent_ns - boot_unix_ns) FROM hosts
                      WHERE last_seen_unix_ns >= :seen_unix_ns)
   GROUP BY host_id, process_id
), latest AS (
  SELECT host_id AS latest_host_id, process_id AS latest_id, unix_ns AS latest_unix_ns,
         coalesce(memory_bytes, coalesce(rss_anon_bytes, 0)
           + coalesce(rss_shmem_bytes, 0)) AS latest_bytes
    FROM placed_samples
   WHERE (host_id, process_id) IN (SELECT member_host_id, member_id FROM member)
     AND unix_ns >= :seen_unix_ns - :recent_ns
     AND (process_id, boot_ns) IN (SELECT newest_id, newest_boot_ns FROM newest)
), own AS (
  SELECT member.member_host_id AS own_host_id, member.member_run_id AS own_run_id,
         member.member_container_id AS own_container_id, member.member_task_id AS own_task_id,
         member.member_program AS own_program, latest.latest_unix_ns AS own_unix_ns, latest.latest_bytes AS own_bytes,
         row_number() OVER (PARTITION BY member.member_host_id, member.member_run_id, member.member_container_id
                            ORDER BY latest.latest_bytes DESC, member.member_id) AS own_place
    FROM member
    JOIN latest ON latest.latest_host_id = member.member_host_id AND latest.latest_id = member.member_id
), held AS (
  SELECT own_host_id AS held_host_id, own_run_id AS held_run_id, own_container_id AS held_container_id,
         sum(own_bytes) AS held_bytes,
         max(CASE WHEN own_place = 1 THEN own_task_id END) AS held_task_id,
         max(CASE WHEN own_place = 1 THEN own_program END) AS held_program,
         max(CASE WHEN own_place = 1 THEN own_unix_ns END) AS held_unix_ns,
         max(CASE WHEN own_place = 1 THEN own_bytes END) AS held_largest_bytes
    FROM own
   GROUP BY own_host_id, own_run_id, own_container_id
), found AS (
  SELECT held.held_host_id AS found_host_id, held.held_run_id AS found_run_id, held.held_task_id AS found_task_id,
         held.held_program AS found_program, held.held_unix_ns AS found_unix_ns,
         held.held_largest_bytes AS found_largest_bytes, limited.limited_container AS found_container,
         limited.limit_bytes AS found_limit_bytes, limited.limited_container_id AS found_container_id,
         CASE WHEN held.held_bytes > limited.peak_bytes THEN limited.peak_bytes ELSE held.held_bytes END AS found_bytes
    FROM held
    JOIN limited ON limited.limited_host_id = held.held_host_id AND limited.limited_run_id = held.held_run_id
                AND limited.limited_container_id = held.held_container_id
)
SELECT found.found_host_id AS host_id, r.id AS run_id, r.name AS run, r.user_id AS user_id, t.id AS task_id, t.name AS task,
       found.found_program AS tool, found.found_unix_ns AS since_unix_ns, found.found_bytes AS memory_bytes,
       found.found_limit_bytes AS memory_limit_bytes, 1.0 * found.found_bytes / found.found_limit_bytes AS memory_share,
       found.found_largest_bytes AS largest_bytes, found.found_container AS container
  FROM found
  JOIN standing_runs r ON r.host_id = found.found_host_id AND r.id = found.found_run_id
  LEFT JOIN tasks t ON t.host_id = found.found_host_id AND t.id = found.found_task_id
 WHERE found.found_bytes >= :least_share * found.found_limit_bytes
 ORDER BY memory_share DESC, r.id, found.found_container_id;
