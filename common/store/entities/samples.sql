-- Uses the tables instead of the view of processes, which a join would materialize in full.
SELECT s.*, t.host_id, s.boot_ns + p.started_unix_ns - p.begin_boot_ns AS unix_ns
  FROM samples s
  LEFT JOIN process_rows p ON p.id = s.process_id
  LEFT JOIN tools t ON t.id = p.tool_id
 WHERE s.rev > :cursor ORDER BY s.rev LIMIT :limit;
