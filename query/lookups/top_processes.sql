-- Living processes with what they used of late, the busiest first: recent_cpu_ns,
-- recent_read_bytes and recent_write_bytes in recent_wall_ns; without a sample of late
-- all are NULL: it was idle.
-- :since_boot_ns where "now" begins, a few seconds before stream.committed_boot_ns;
-- :host_id of this host, NULL: of any; :limit rows.
WITH recent AS (
  SELECT process_id, boot_ns, cpu_ns, read_bytes, write_bytes, rss_anon_bytes, rss_file_bytes,
         rss_shmem_bytes, swap_bytes, thread_count
    FROM placed_samples
   WHERE (:host_id IS NULL OR host_id = :host_id)
     AND process_id IN (SELECT id FROM processes
                         WHERE end_boot_ns IS NULL AND (:host_id IS NULL OR host_id = :host_id))
     AND boot_ns >= :since_boot_ns
), latest AS (
  SELECT process_id, max(boot_ns) AS boot_ns, min(boot_ns) AS first_boot_ns,
         max(cpu_ns) AS cpu_ns, min(cpu_ns) AS first_cpu_ns,
         max(read_bytes) AS read_bytes, min(read_bytes) AS first_read_bytes,
         max(write_bytes) AS write_bytes, min(write_bytes) AS first_write_bytes
    FROM recent
   GROUP BY process_id
), shape AS (
  SELECT latest.process_id AS process_id, latest.boot_ns AS boot_ns,
         latest.first_boot_ns AS first_boot_ns, latest.cpu_ns AS cpu_ns,
         latest.first_cpu_ns AS first_cpu_ns, latest.read_bytes AS read_bytes,
         latest.first_read_bytes AS first_read_bytes, latest.write_bytes AS write_bytes,
         latest.first_write_bytes AS first_write_bytes, s.rss_anon_bytes AS rss_anon_bytes,
         s.rss_file_bytes AS rss_file_bytes, s.rss_shmem_bytes AS rss_shmem_bytes,
         s.swap_bytes AS swap_bytes, s.thread_count AS thread_count
    FROM latest
    JOIN recent s ON s.process_id = latest.process_id AND s.boot_ns = latest.boot_ns
), living AS (
  SELECT p.id AS id, p.pid AS pid, p.parent_id AS parent_id, p.user_id AS user_id,
         p.run_id AS run_id, p.task_id AS task_id, p.tool_id AS tool_id, p.program AS program,
         p.arguments AS arguments, p.begin_boot_ns AS begin_boot_ns,
         CASE WHEN p.begin_boot_ns >= :since_boot_ns THEN shape.cpu_ns
              ELSE shape.cpu_ns - shape.first_cpu_ns END AS recent_cpu_ns,
         CASE WHEN p.begin_boot_ns >= :since_boot_ns THEN shape.read_bytes
              ELSE shape.read_bytes - shape.first_read_bytes END AS recent_read_bytes,
         CASE WHEN p.begin_boot_ns >= :since_boot_ns THEN shape.write_bytes
              ELSE shape.write_bytes - shape.first_write_bytes END AS recent_write_bytes,
         shape.boot_ns - CASE WHEN p.begin_boot_ns >= :since_boot_ns THEN p.begin_boot_ns
                              ELSE shape.first_boot_ns END AS recent_wall_ns,
         shape.rss_anon_bytes AS rss_anon_bytes, shape.rss_file_bytes AS rss_file_bytes,
         shape.rss_shmem_bytes AS rss_shmem_bytes, shape.swap_bytes AS swap_bytes,
         shape.thread_count AS thread_count
    FROM processes p LEFT JOIN shape ON shape.process_id = p.id
   WHERE p.end_boot_ns IS NULL AND (:host_id IS NULL OR p.host_id = :host_id)
)
SELECT living.id AS id, living.pid AS pid, living.parent_id AS parent_id,
       living.user_id AS user_id, living.run_id AS run_id, living.task_id AS task_id,
       living.tool_id AS tool_id, living.program AS program, living.arguments AS arguments,
       living.begin_boot_ns AS begin_boot_ns, living.recent_cpu_ns AS recent_cpu_ns,
       living.recent_read_bytes AS recent_read_bytes,
       living.recent_write_bytes AS recent_write_bytes,
       living.recent_wall_ns AS recent_wall_ns, living.rss_anon_bytes AS rss_anon_bytes,
       living.rss_file_bytes AS rss_file_bytes, living.rss_shmem_bytes AS rss_shmem_bytes,
       living.swap_bytes AS swap_bytes, living.thread_count AS thread_count,
       tool.name AS tool_name, task.name AS task_name, run.name AS run_name,
       run.kind AS run_kind
  FROM living
  LEFT JOIN tools tool ON tool.id = living.tool_id
       AND (:host_id IS NULL OR tool.host_id = :host_id)
  LEFT JOIN tasks task ON task.id = living.task_id
       AND (:host_id IS NULL OR task.host_id = :host_id)
  LEFT JOIN runs run ON run.id = living.run_id
       AND (:host_id IS NULL OR run.host_id = :host_id)
 ORDER BY living.recent_cpu_ns DESC NULLS LAST, living.id
 LIMIT :limit;
