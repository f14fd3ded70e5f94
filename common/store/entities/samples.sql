-- Through the tables and not the view of processes, which would be made in full for a join.
SELECT s.*, t.host_id, s.boot_ns + p.started_unix_ns - p.begin_boot_ns AS unix_ns
  FROM samples s
  LEFT JOIN process_rows p ON p.id = s.process_id
  LEFT JOIN tools t ON t.id = p.tool_id
 WHERE s.rev > :cursor ORDER BY s.rev LIMIT :limit;
