-- Samples of the processes to delete, and old ones of running processes, of this user or of all.
DELETE FROM samples
 WHERE (process_id, boot_ns) IN (
   SELECT s.process_id, s.boot_ns
     FROM temp.expiring_processes e CROSS JOIN samples s ON s.process_id = e.id
    UNION
   SELECT s.process_id, s.boot_ns
     FROM samples s
     LEFT JOIN process_rows p ON p.id = s.process_id
     LEFT JOIN tools t ON t.id = p.tool_id
     LEFT JOIN runs r ON r.id = t.run_id
    WHERE s.rev > :first_rev AND s.rev <= :last_rev AND p.end_boot_ns IS NULL
      AND coalesce(s.boot_ns + p.started_unix_ns - p.begin_boot_ns, 0) < :before_unix_ns
      AND (:user_id IS NULL
           OR :user_id = ifnull(CASE WHEN r.kind = 'system' THEN p.user_id ELSE r.user_id END, -1))
    LIMIT :sample_limit)
RETURNING rev > :shipped_rev;
