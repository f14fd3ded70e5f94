-- What processes used recently that have ended since, by their tools: recent_cpu_ns,
-- recent_read_bytes and recent_write_bytes since :since_boot_ns. Of a process that was there before,
-- what its samples say that it had used by then is left out; without any it is not counted.
-- :since_boot_ns where "now" begins, a few seconds before stream.committed_boot_ns;
-- :host_id of this host, NULL: of any; :limit of the rows that were written last, among which it
-- looks.
WITH written AS (
  SELECT id, end_boot_ns FROM processes
   WHERE rev > coalesce((SELECT max(rev) FROM samples WHERE boot_ns < :since_boot_ns), 0)
     AND (:host_id IS NULL OR host_id = :host_id)
   ORDER BY rev DESC
   LIMIT :limit
), ended AS (
  SELECT id AS ended_id FROM written WHERE end_boot_ns >= :since_boot_ns
), earlier AS (
  SELECT process_id, max(cpu_ns) AS cpu_ns, max(read_bytes) AS read_bytes,
         max(write_bytes) AS write_bytes
    FROM placed_samples
   WHERE process_id IN (SELECT ended_id FROM ended) AND boot_ns < :since_boot_ns
     AND (:host_id IS NULL OR host_id = :host_id)
   GROUP BY process_id
), used AS (
  SELECT p.tool_id AS used_tool_id, p.user_id AS user_id,
         p.cpu_ns - coalesce(earlier.cpu_ns, 0) AS cpu_ns,
         p.read_bytes - coalesce(earlier.read_bytes, 0) AS read_bytes,
         p.write_bytes - coalesce(earlier.write_bytes, 0) AS write_bytes
    FROM processes p LEFT JOIN earlier ON earlier.process_id = p.id
   WHERE p.id IN (SELECT ended_id FROM ended)
     AND (:host_id IS NULL OR p.host_id = :host_id)
     AND (p.begin_boot_ns >= :since_boot_ns OR earlier.cpu_ns IS NOT NULL)
), busy AS (
  SELECT used_tool_id, count(*) AS ended_count, min(user_id) AS user_id,
         max(user_id) AS last_user_id, sum(cpu_ns) AS recent_cpu_ns,
         sum(read_bytes) AS recent_read_bytes, sum(write_bytes) AS recent_write_bytes
    FROM used
   GROUP BY used_tool_id
)
SELECT tool.id AS tool_id, tool.task_id AS task_id, tool.run_id AS run_id,
       tool.name AS tool_name, task.name AS task_name, run.name AS run_name,
       run.kind AS run_kind, tool.begin_boot_ns AS begin_boot_ns, busy.user_id AS user_id,
       busy.last_user_id AS last_user_id, busy.ended_count AS ended_count,
       busy.recent_cpu_ns AS recent_cpu_ns, busy.recent_read_bytes AS recent_read_bytes,
       busy.recent_write_bytes AS recent_write_bytes
  FROM busy
  JOIN tools tool ON tool.id = busy.used_tool_id
       AND (:host_id IS NULL OR tool.host_id = :host_id)
  LEFT JOIN tasks task ON task.id = tool.task_id
       AND (:host_id IS NULL OR task.host_id = :host_id)
  LEFT JOIN runs run ON run.id = tool.run_id
       AND (:host_id IS NULL OR run.host_id = :host_id)
 ORDER BY busy.recent_cpu_ns DESC NULLS LAST, tool.id;
