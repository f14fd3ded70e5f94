-- title: How far have running processes read their largest file?
-- explanation: Running processes that read a regular file of 16 MiB or more from its beginning to its end, as scans see it
--   every ten seconds: how much of the largest is read, and when its end is expected. The interval is from the fastest and
--   the slowest minute (six scans) of the last five, each taken a tenth faster and slower. It is about the file, not the
--   process, which may go on. Files read with pread or mmap, and by one that jumps about, are unknown, and so is which
--   file it is: only position and size are collected (docs/privacy.md).
-- parameter: seen_unix_ns time = 15m; only hosts that were heard of since
-- parameter: recent_ns duration = 5m; time whose minutes count
-- parameter: most_ns duration = 30s; maximum age of the latest position when the host was last heard of
-- parameter: lag_ns duration = 2s; how much older than its sample a position may be: it is from the scan before
-- parameter: margin_share share = 10%; how much faster and slower it may become
-- column: host_id id; the host
-- column: run_id id; the run
-- column: run text; name of the run
-- column: user_id user; whose process
-- column: task_id id; the task
-- column: task text; name of the task
-- column: tool_id id; the tool
-- column: process_id id; the process
-- column: program text; its program
-- column: is_whole_run flag; whether it is the only process that the run had
-- column: file_position_bytes bytes; how far it has read
-- column: file_size_bytes bytes; size of the file
-- column: read_share share; how much of it that is
-- column: earliest_unix_ns time; earliest expected end of the file
-- column: latest_unix_ns time; latest expected end of the file
WITH reader AS (
  SELECT host_id AS reader_host_id, id AS reader_id, run_id AS reader_run_id, task_id AS reader_task_id,
         tool_id AS reader_tool_id, user_id AS reader_user_id, program AS reader_program
    FROM open_processes
   WHERE host_id IN (SELECT id FROM hosts WHERE last_seen_unix_ns >= :seen_unix_ns)
), reading AS (
  SELECT host_id AS reading_host_id, process_id AS reading_id, boot_ns AS reading_boot_ns, unix_ns AS reading_unix_ns,
         file_position_bytes AS reading_bytes, file_size_bytes AS reading_size_bytes,
         row_number() OVER (PARTITION BY host_id, process_id, file_size_bytes ORDER BY boot_ns DESC) AS place,
         min(boot_ns) OVER (PARTITION BY host_id, process_id, file_size_bytes ORDER BY boot_ns
                            ROWS BETWEEN 6 PRECEDING AND 6 PRECEDING) AS earlier_boot_ns,
         min(file_position_bytes) OVER (PARTITION BY host_id, process_id, file_size_bytes ORDER BY boot_ns
                                        ROWS BETWEEN 6 PRECEDING AND 6 PRECEDING) AS earlier_bytes,
         min(file_position_bytes) OVER (PARTITION BY host_id, process_id, file_size_bytes ORDER BY boot_ns
                                        ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING) AS before_bytes,
         max(boot_ns) OVER (PARTITION BY host_id, process_id) AS last_boot_ns
    FROM placed_samples
   WHERE file_size_bytes IS NOT NULL AND unix_ns >= :seen_unix_ns - :recent_ns
     AND (host_id, process_id) IN (SELECT reader_host_id, reader_id FROM reader)
), rated AS ( -- of the file that was read last; a position that goes back is another file, or a jump
  SELECT reading_host_id AS rated_host_id, reading_id AS rated_id, max(reading_size_bytes) AS rated_size_bytes,
         max(CASE WHEN place = 1 THEN reading_bytes END) AS rated_bytes,
         max(CASE WHEN place = 1 THEN reading_unix_ns END) AS rated_unix_ns,
         min(CASE WHEN earlier_boot_ns < reading_boot_ns
                  THEN 1.0 * (reading_bytes - earlier_bytes) / (reading_boot_ns - earlier_boot_ns) END) AS slowest,
         max(CASE WHEN earlier_boot_ns < reading_boot_ns
                  THEN 1.0 * (reading_bytes - earlier_bytes) / (reading_boot_ns - earlier_boot_ns) END) AS fastest,
         sum(CASE WHEN reading_bytes < before_bytes THEN 1 ELSE 0 END) AS jump_count
    FROM reading
   GROUP BY reading_host_id, reading_id, reading_size_bytes
  HAVING max(reading_boot_ns) = max(last_boot_ns)
)
SELECT reader.reader_host_id AS host_id, reader.reader_run_id AS run_id, r.name AS run, reader.reader_user_id AS user_id,
       reader.reader_task_id AS task_id, t.name AS task, reader.reader_tool_id AS tool_id,
       reader.reader_id AS process_id, reader.reader_program AS program,
       CASE WHEN r.process_count = 1 THEN 1 ELSE 0 END AS is_whole_run, rated.rated_bytes AS file_position_bytes,
       rated.rated_size_bytes AS file_size_bytes, 1.0 * rated.rated_bytes / rated.rated_size_bytes AS read_share,
       rated.rated_unix_ns - :lag_ns
         + CAST(1.0 * (rated.rated_size_bytes - rated.rated_bytes) / ((1 + :margin_share) * rated.fastest) AS BIGINT)
         AS earliest_unix_ns,
       rated.rated_unix_ns
         + CAST(1.0 * (rated.rated_size_bytes - rated.rated_bytes) / ((1 - :margin_share) * rated.slowest) AS BIGINT)
         AS latest_unix_ns
  FROM rated
  JOIN reader ON reader.reader_host_id = rated.rated_host_id AND reader.reader_id = rated.rated_id
  JOIN hosts h ON h.id = rated.rated_host_id
  LEFT JOIN runs r ON r.host_id = reader.reader_host_id AND r.id = reader.reader_run_id
  LEFT JOIN tasks t ON t.host_id = reader.reader_host_id AND t.id = reader.reader_task_id
 WHERE rated.jump_count = 0 AND rated.slowest > 0 AND h.last_seen_unix_ns - rated.rated_unix_ns <= :most_ns
 ORDER BY earliest_unix_ns, reader.reader_id;
