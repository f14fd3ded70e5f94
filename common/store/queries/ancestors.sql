-- A process and what it descends from, itself first: where an argument, path or
-- directory is unknown because it is its parent's, the next one that has it tells.
-- :process_id the process.
WITH RECURSIVE line AS (
  SELECT id, parent_id, 0 AS depth FROM processes WHERE id = :process_id
   UNION ALL
  SELECT p.id, p.parent_id, line.depth + 1 FROM line JOIN processes p ON p.id = line.parent_id
   WHERE line.depth < 256
)
SELECT p.*, line.depth AS depth FROM line JOIN processes p ON p.id = line.id
 ORDER BY line.depth;
