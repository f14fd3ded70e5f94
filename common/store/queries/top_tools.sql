-- Living tools with what their processes used of late, the busiest first.
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
SELECT tool.id AS id, tool.task_id AS task_id, tool.run_id AS run_id, tool.name AS name,
       tool.role AS role, tool.begin_boot_ns AS begin_boot_ns, tool.cpu_ns AS cpu_ns,
       tool.living_count AS living_count, tool.process_count AS process_count,
       task.name AS task_name,
       sum(recent.recent_cpu_ns) AS recent_cpu_ns, max(recent.recent_wall_ns) AS recent_wall_ns,
       sum(recent.rss_anon_bytes) AS rss_anon_bytes, sum(recent.rss_shmem_bytes) AS rss_shmem_bytes
  FROM processes p
  JOIN standing_tools tool ON tool.id = p.tool_id
  LEFT JOIN recent ON recent.process_id = p.id
  LEFT JOIN tasks task ON task.id = tool.task_id
 WHERE p.end_boot_ns IS NULL
 GROUP BY tool.id, tool.task_id, tool.run_id, tool.name, tool.role, tool.begin_boot_ns,
          tool.cpu_ns, tool.living_count, tool.process_count, task.name
 ORDER BY recent_cpu_ns DESC NULLS LAST, id
 LIMIT :limit;
