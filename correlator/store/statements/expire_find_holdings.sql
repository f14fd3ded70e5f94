-- How many bytes each user has in the store, estimated from blocks of rows at regular distances; of a small
-- store, all rows are read. What belongs to a run counts for its user, in the system run for that of the process.
-- A tool's, task's and run's own rows are shared among its processes.
WITH RECURSIVE blocks (rev) AS (
  SELECT 0
   UNION ALL
  SELECT (SELECT min(rev)
            FROM (SELECT min(rev) AS rev FROM process_rows WHERE rev > b.rev + :distance
                   UNION ALL
                  SELECT min(rev) FROM samples WHERE rev > b.rev + :distance)) - 1
    FROM blocks b
   WHERE b.rev IS NOT NULL
), held AS (
  SELECT b.rev, p.tool_id, p.user_id,
         400 + ifnull(length(p.arguments), 0) + ifnull(length(p.working_directory), 0) AS bytes, 1500 AS shared_bytes
    FROM blocks b CROSS JOIN process_rows p ON p.rev > b.rev AND p.rev <= b.rev + :width
   UNION ALL
  SELECT b.rev, p.tool_id, p.user_id, 120, 0
    FROM blocks b
   CROSS JOIN samples s ON s.rev > b.rev AND s.rev <= b.rev + :width
   CROSS JOIN process_rows p ON p.id = s.process_id
)
SELECT ifnull(CASE WHEN r.kind = 'system' THEN h.user_id ELSE r.user_id END, -1) AS user_id,
       sum(h.bytes + h.shared_bytes / max(1, t.process_count)) AS bytes,
       min(min(h.rev, r.rev - 1)) AS first_rev -- a commit writes runs before their processes
  FROM held h
  JOIN tools t ON t.id = h.tool_id
  JOIN runs r ON r.id = t.run_id
 GROUP BY 1
 ORDER BY bytes DESC
 LIMIT :holdings_limit;
