-- Tools that have processes running or recently ended, with their usage per second. Tools without running
-- processes are grouped by run and name; task and tool are NULL if a group has several. For a process that
-- began before :since_boot_ns, usage up to then, as its samples give it, is subtracted; if it has ended and
-- has no sample from before, it is not counted. A tool is idle if no recent sample mentions it; its GPU memory is
-- that of the last sample even then: who sleeps keeps it. Cores are in billionths, and so are GPUs, devices that
-- worked on average; NULL where no sampler reports them. The last digit of a sum of fractions depends on their
-- order, so a little is added before it is truncated. :since_boot_ns where "now" begins, a few seconds before
-- stream.committed_boot_ns; :window_ns its length; :host_id only this host, NULL for any; :limit how many of the
-- most recently written rows are searched for ended processes; :written_rev only those with a higher revision,
-- NULL: that of the last sample before "now".
WITH recent AS (
  SELECT process_id, boot_ns, cpu_ns, read_bytes, write_bytes, gpu_busy_ns, gpu_memory_bytes,
         coalesce(memory_bytes, coalesce(rss_anon_bytes, 0) + coalesce(rss_shmem_bytes, 0)) AS memory_bytes
    FROM placed_samples
   WHERE (:host_id IS NULL OR host_id = :host_id)
     AND process_id IN (SELECT id FROM processes
                         WHERE end_boot_ns IS NULL AND (:host_id IS NULL OR host_id = :host_id))
     AND boot_ns >= :since_boot_ns
), latest AS (
  SELECT process_id, max(boot_ns) AS boot_ns, min(boot_ns) AS first_boot_ns,
         max(cpu_ns) AS cpu_ns, min(cpu_ns) AS first_cpu_ns,
         max(read_bytes) AS read_bytes, min(read_bytes) AS first_read_bytes,
         max(write_bytes) AS write_bytes, min(write_bytes) AS first_write_bytes,
         max(gpu_busy_ns) AS gpu_ns, min(gpu_busy_ns) AS first_gpu_ns
    FROM recent
   GROUP BY process_id
), sleeper AS ( -- that may hold GPU memory
  SELECT id AS sleeper_id FROM processes
   WHERE end_boot_ns IS NULL AND gpu_peak_bytes IS NOT NULL AND (:host_id IS NULL OR host_id = :host_id)
     AND id NOT IN (SELECT process_id FROM placed_samples
                     WHERE boot_ns >= :since_boot_ns AND (:host_id IS NULL OR host_id = :host_id)
                       AND process_id IN (SELECT id FROM processes
                                           WHERE end_boot_ns IS NULL AND gpu_peak_bytes IS NOT NULL
                                             AND (:host_id IS NULL OR host_id = :host_id)))
), held AS (
  SELECT process_id AS holder_id, gpu_memory_bytes AS held_bytes,
         row_number() OVER (PARTITION BY process_id ORDER BY boot_ns DESC) AS place
    FROM placed_samples
   WHERE process_id IN (SELECT sleeper_id FROM sleeper) AND (:host_id IS NULL OR host_id = :host_id)
), living AS (
  SELECT p.tool_id AS tool_id, p.user_id AS user_id, p.begin_boot_ns AS begin_boot_ns, s.memory_bytes AS memory_bytes,
         coalesce(s.gpu_memory_bytes, held.held_bytes) AS gpu_bytes,
         l.boot_ns - CASE WHEN p.begin_boot_ns >= :since_boot_ns THEN p.begin_boot_ns
                          ELSE l.first_boot_ns END AS wall_ns,
         l.cpu_ns - CASE WHEN p.begin_boot_ns >= :since_boot_ns THEN 0 ELSE l.first_cpu_ns END AS cpu_ns,
         l.read_bytes - CASE WHEN p.begin_boot_ns >= :since_boot_ns THEN 0 ELSE l.first_read_bytes END AS read_bytes,
         l.write_bytes - CASE WHEN p.begin_boot_ns >= :since_boot_ns THEN 0
                              ELSE l.first_write_bytes END AS write_bytes,
         CASE WHEN l.process_id IS NULL AND p.gpu_busy_ns IS NOT NULL THEN 0
              WHEN p.begin_boot_ns >= :since_boot_ns THEN l.gpu_ns ELSE l.gpu_ns - l.first_gpu_ns END AS gpu_ns
    FROM processes p
    LEFT JOIN latest l ON l.process_id = p.id
    LEFT JOIN recent s ON s.process_id = l.process_id AND s.boot_ns = l.boot_ns
    LEFT JOIN held ON held.holder_id = p.id AND held.place = 1
   WHERE p.end_boot_ns IS NULL AND (:host_id IS NULL OR p.host_id = :host_id)
), written AS (
  SELECT id, end_boot_ns FROM processes
   WHERE rev > coalesce(:written_rev, (SELECT max(rev) FROM samples WHERE boot_ns < :since_boot_ns), 0)
     AND (:host_id IS NULL OR host_id = :host_id)
   ORDER BY rev DESC
   LIMIT :limit
), earlier AS (
  SELECT process_id, max(cpu_ns) AS cpu_ns, max(read_bytes) AS read_bytes, max(write_bytes) AS write_bytes,
         max(gpu_busy_ns) AS gpu_ns
    FROM placed_samples
   WHERE process_id IN (SELECT id FROM written WHERE end_boot_ns >= :since_boot_ns) AND boot_ns < :since_boot_ns
     AND (:host_id IS NULL OR host_id = :host_id)
   GROUP BY process_id
), used AS (
  SELECT tool_id, 1 AS is_running, user_id, begin_boot_ns, wall_ns, cpu_ns, read_bytes, write_bytes, memory_bytes,
         gpu_ns, gpu_bytes
    FROM living
   UNION ALL
  SELECT p.tool_id, 0, p.user_id, NULL, :window_ns, p.cpu_ns - coalesce(e.cpu_ns, 0),
         p.read_bytes - coalesce(e.read_bytes, 0), p.write_bytes - coalesce(e.write_bytes, 0), NULL,
         p.gpu_busy_ns - coalesce(e.gpu_ns, 0), NULL
    FROM processes p LEFT JOIN earlier e ON e.process_id = p.id
   WHERE p.id IN (SELECT id FROM written WHERE end_boot_ns >= :since_boot_ns)
     AND (:host_id IS NULL OR p.host_id = :host_id)
     AND (p.begin_boot_ns >= :since_boot_ns OR e.cpu_ns IS NOT NULL)
), busy AS (
  SELECT tool_id AS busy_tool_id, sum(is_running) AS process_count, count(*) - sum(is_running) AS ended_count,
         min(user_id) AS user_id, max(user_id) AS last_user_id, min(begin_boot_ns) AS begin_boot_ns,
         count(wall_ns) AS seen_count, sum(memory_bytes) AS memory_bytes,
         sum(CASE WHEN wall_ns > 0 AND cpu_ns > 0 THEN 1.0 * cpu_ns / wall_ns ELSE 0.0 END) AS cores,
         sum(CASE WHEN wall_ns > 0 AND read_bytes > 0
                  THEN 1.0 * read_bytes * 1000000000 / wall_ns ELSE 0.0 END) AS read_rate,
         sum(CASE WHEN wall_ns > 0 AND write_bytes > 0
                  THEN 1.0 * write_bytes * 1000000000 / wall_ns ELSE 0.0 END) AS write_rate,
         sum(CASE WHEN wall_ns > 0 AND gpu_ns > 0 THEN 1.0 * gpu_ns / wall_ns
                  WHEN gpu_ns IS NOT NULL THEN 0.0 END) AS busy_gpus, sum(gpu_bytes) AS gpu_bytes
    FROM used
   GROUP BY tool_id
)
SELECT t.run_id AS run_id, max(r.name) AS run, CASE WHEN count(*) = 1 THEN max(t.task_id) END AS task_id,
       max(k.name) AS task, CASE WHEN count(*) = 1 THEN max(t.id) END AS tool_id, t.name AS tool,
       CASE WHEN min(busy.user_id) = max(busy.last_user_id) THEN min(busy.user_id) END AS user_id,
       sum(busy.process_count) AS process_count, sum(busy.ended_count) AS ended_count,
       min(CASE WHEN busy.ended_count > 0 THEN t.begin_boot_ns ELSE busy.begin_boot_ns END) AS begin_boot_ns,
       CASE WHEN sum(busy.seen_count) > 0 THEN 0 ELSE 1 END AS idle,
       CAST(1000000000 * sum(busy.cores) + 0.001 AS BIGINT) AS cores,
       sum(busy.memory_bytes) AS memory_bytes, CAST(1000000000 * sum(busy.busy_gpus) + 0.001 AS BIGINT) AS gpus,
       sum(busy.gpu_bytes) AS gpu_memory_bytes,
       CAST(sum(busy.read_rate) + 0.001 AS BIGINT) AS read_bytes_per_second,
       CAST(sum(busy.write_rate) + 0.001 AS BIGINT) AS write_bytes_per_second, count(*) AS tool_count,
       CASE WHEN max(r.kind) IN ('system', 'session') THEN 1 ELSE 0 END AS is_system
  FROM busy
  JOIN tools t ON t.id = busy.busy_tool_id AND (:host_id IS NULL OR t.host_id = :host_id)
  LEFT JOIN tasks k ON k.id = t.task_id AND (:host_id IS NULL OR k.host_id = :host_id)
  LEFT JOIN runs r ON r.id = t.run_id AND (:host_id IS NULL OR r.host_id = :host_id)
 GROUP BY t.run_id, t.name, CASE WHEN busy.process_count > 0 THEN t.id END
 ORDER BY tool_id NULLS LAST, t.run_id, t.name;
