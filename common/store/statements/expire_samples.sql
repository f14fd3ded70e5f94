-- Samples of the processes to delete, and old ones of running processes.
DELETE FROM samples
 WHERE (process_id, boot_ns) IN (
   SELECT s.process_id, s.boot_ns
     FROM temp.expiring_processes e CROSS JOIN samples s ON s.process_id = e.id
    UNION
   SELECT s.process_id, s.boot_ns
     FROM samples s
     LEFT JOIN process_rows p ON p.id = s.process_id
    WHERE s.rev > :first_rev AND s.rev <= :last_rev AND p.end_boot_ns IS NULL
      AND coalesce(s.boot_ns + p.started_unix_ns - p.begin_boot_ns, 0) < :before_unix_ns
    LIMIT :sample_limit)
RETURNING rev > :shipped_rev;
