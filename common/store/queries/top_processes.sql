-- Living processes with what they used of late, the busiest first. recent_cpu_ns were
-- used in recent_wall_ns; without a sample of late all are NULL: it was idle.
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
SELECT p.id AS id, p.pid AS pid, p.parent_id AS parent_id, p.user_id AS user_id,
       p.run_id AS run_id, p.task_id AS task_id, p.tool_id AS tool_id, p.program AS program,
       p.arguments AS arguments, p.begin_boot_ns AS begin_boot_ns,
       tool.name AS tool_name, task.name AS task_name, run.name AS run_name, run.kind AS run_kind,
       recent.recent_cpu_ns AS recent_cpu_ns, recent.recent_wall_ns AS recent_wall_ns,
       recent.rss_anon_bytes AS rss_anon_bytes, recent.rss_file_bytes AS rss_file_bytes,
       recent.rss_shmem_bytes AS rss_shmem_bytes, recent.swap_bytes AS swap_bytes,
       recent.thread_count AS thread_count
  FROM processes p
  LEFT JOIN recent ON recent.process_id = p.id
  LEFT JOIN tools tool ON tool.id = p.tool_id
  LEFT JOIN tasks task ON task.id = p.task_id
  LEFT JOIN runs run ON run.id = p.run_id
 WHERE p.end_boot_ns IS NULL
 ORDER BY recent.recent_cpu_ns DESC NULLS LAST, p.id
 LIMIT :limit;
