-- Living tasks with what their processes used of late, the busiest first.
-- recent_cpu_ns were used in about recent_wall_ns; NULL: idle.
-- :since_boot_ns where "now" begins, a few seconds before stream.committed_boot_ns;
-- :limit rows.
WITH latest AS (
  SELECT p.id AS process_id, p.begin_boot_ns AS begin_boot_ns,
         max(s.boot_ns) AS boot_ns, min(s.boot_ns) AS first_boot_ns,
         max(s.cpu_ns) AS cpu_ns, min(s.cpu_ns) AS first_cpu_ns
    FROM processes p JOIN samples s ON s.process_id = p.id AND s.boot_ns >= :since_boot_ns
   WHERE p.end_boot_ns IS NULL
   GROUP BY p.id, p.begin_boot_ns
), recent AS (
  SELECT latest.process_id AS process_id,
         CASE WHEN latest.begin_boot_ns >= :since_boot_ns THEN latest.cpu_ns
              ELSE latest.cpu_ns - latest.first_cpu_ns END AS recent_cpu_ns,
         CASE WHEN latest.begin_boot_ns >= :since_boot_ns
              THEN latest.boot_ns - latest.begin_boot_ns
              ELSE latest.boot_ns - latest.first_boot_ns END AS recent_wall_ns,
         s.rss_anon_bytes AS rss_anon_bytes, s.rss_file_bytes AS rss_file_bytes,
         s.rss_shmem_bytes AS rss_shmem_bytes, s.swap_bytes AS swap_bytes,
         s.thread_count AS thread_count
    FROM latest JOIN samples s ON s.process_id = latest.process_id AND s.boot_ns = latest.boot_ns
)
SELECT task.id AS id, task.run_id AS run_id, task.kind AS kind, task.name AS name,
       task.begin_boot_ns AS begin_boot_ns, task.cpu_ns AS cpu_ns,
       task.living_count AS living_count, task.process_count AS process_count,
       run.name AS run_name, run.kind AS run_kind,
       sum(recent.recent_cpu_ns) AS recent_cpu_ns, max(recent.recent_wall_ns) AS recent_wall_ns,
       sum(recent.rss_anon_bytes) AS rss_anon_bytes, sum(recent.rss_shmem_bytes) AS rss_shmem_bytes
  FROM processes p
  JOIN standing_tasks task ON task.id = p.task_id
  LEFT JOIN recent ON recent.process_id = p.id
  LEFT JOIN runs run ON run.id = task.run_id
 WHERE p.end_boot_ns IS NULL
 GROUP BY task.id, task.run_id, task.kind, task.name, task.begin_boot_ns, task.cpu_ns,
          task.living_count, task.process_count, run.name, run.kind
 ORDER BY recent_cpu_ns DESC NULLS LAST, id
 LIMIT :limit;
