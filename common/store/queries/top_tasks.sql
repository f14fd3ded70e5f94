-- Living tasks with what their processes used of late, the busiest first: recent_cpu_ns
-- in about recent_wall_ns; without a sample of late both are NULL: it was idle.
-- :since_boot_ns where "now" begins, a few seconds before stream.committed_boot_ns;
-- :host_id of this host, NULL: of any; :limit rows.
WITH recent AS (
  SELECT process_id, boot_ns, cpu_ns, rss_anon_bytes, rss_file_bytes,
         rss_shmem_bytes, swap_bytes, thread_count
    FROM placed_samples
   WHERE (:host_id IS NULL OR host_id = :host_id)
     AND process_id IN (SELECT id FROM processes
                         WHERE end_boot_ns IS NULL AND (:host_id IS NULL OR host_id = :host_id))
     AND boot_ns >= :since_boot_ns
), latest AS (
  SELECT process_id, max(boot_ns) AS boot_ns, min(boot_ns) AS first_boot_ns,
         max(cpu_ns) AS cpu_ns, min(cpu_ns) AS first_cpu_ns
    FROM recent
   GROUP BY process_id
), shape AS (
  SELECT latest.process_id AS process_id, latest.boot_ns AS boot_ns,
         latest.first_boot_ns AS first_boot_ns, latest.cpu_ns AS cpu_ns,
         latest.first_cpu_ns AS first_cpu_ns, s.rss_anon_bytes AS rss_anon_bytes,
         s.rss_file_bytes AS rss_file_bytes, s.rss_shmem_bytes AS rss_shmem_bytes,
         s.swap_bytes AS swap_bytes, s.thread_count AS thread_count
    FROM latest
    JOIN recent s ON s.process_id = latest.process_id AND s.boot_ns = latest.boot_ns
), living AS (
  SELECT p.id AS id, p.task_id AS task_id,
         CASE WHEN p.begin_boot_ns >= :since_boot_ns THEN shape.cpu_ns
              ELSE shape.cpu_ns - shape.first_cpu_ns END AS recent_cpu_ns,
         shape.boot_ns - CASE WHEN p.begin_boot_ns >= :since_boot_ns THEN p.begin_boot_ns
                              ELSE shape.first_boot_ns END AS recent_wall_ns,
         shape.rss_anon_bytes AS rss_anon_bytes, shape.rss_shmem_bytes AS rss_shmem_bytes
    FROM processes p LEFT JOIN shape ON shape.process_id = p.id
   WHERE p.end_boot_ns IS NULL AND (:host_id IS NULL OR p.host_id = :host_id)
), busy AS (
  SELECT task_id, count(*) AS living_count, sum(recent_cpu_ns) AS recent_cpu_ns,
         max(recent_wall_ns) AS recent_wall_ns, sum(rss_anon_bytes) AS rss_anon_bytes,
         sum(rss_shmem_bytes) AS rss_shmem_bytes
    FROM living
   GROUP BY task_id
)
SELECT task.id AS id, task.run_id AS run_id, task.kind AS kind, task.name AS name,
       task.begin_boot_ns AS begin_boot_ns, task.cpu_ns AS cpu_ns,
       task.process_count AS process_count, run.name AS run_name, run.kind AS run_kind,
       busy.living_count AS living_count, busy.recent_cpu_ns AS recent_cpu_ns,
       busy.recent_wall_ns AS recent_wall_ns, busy.rss_anon_bytes AS rss_anon_bytes,
       busy.rss_shmem_bytes AS rss_shmem_bytes
  FROM busy
  LEFT JOIN tasks task ON task.id = busy.task_id
       AND (:host_id IS NULL OR task.host_id = :host_id)
  LEFT JOIN runs run ON run.id = task.run_id
       AND (:host_id IS NULL OR run.host_id = :host_id)
 ORDER BY busy.recent_cpu_ns DESC NULLS LAST, busy.task_id
 LIMIT :limit;
