-- A process and its ancestors, itself first. Where arguments, path or directory are NULL
-- because they are the same as the parent's, the next row that has them gives the value.
-- :process_id the process; :host_id its host.
WITH RECURSIVE line AS (
  SELECT id AS line_id, parent_id AS line_parent_id, 0 AS depth
    FROM processes
   WHERE host_id = :host_id AND id = :process_id
   UNION ALL
  SELECT p.id AS line_id, p.parent_id AS line_parent_id, line.depth + 1 AS depth
    FROM line JOIN processes p ON p.id = line.line_parent_id
   WHERE p.host_id = :host_id AND line.depth < 256
)
SELECT processes.*, line.depth AS depth
  FROM line JOIN processes ON processes.id = line.line_id
 WHERE processes.host_id = :host_id
 ORDER BY line.depth;
