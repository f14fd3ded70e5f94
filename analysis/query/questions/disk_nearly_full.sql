-- title: Which runs work on a disk that is nearly full?
-- explanation: Running runs with a process, task or program whose working directory is on a file system that is nearly
--   full: less than a twentieth and less than 20 GiB can still be written, or it will be full within half an hour if it goes on
--   filling as in the last quarter of an hour, and less than a fifth is left. One line for a run and a file system. Directories are
--   those at the start of programs. What runs in containers is left out: they have file systems of their own. Unknown are
--   FUSE file systems, and those that did not answer.
-- finding: top
-- parameter: seen_unix_ns time = 15m; only hosts that were heard of since
-- parameter: full_share share = 5%; nearly full: at most this share can still be written; source: our proposal (docs/live.md)
-- parameter: full_bytes bytes = 20G; and at most this many bytes
-- parameter: filling_share share = 20%; filling up: at most this share can still be written
-- parameter: filling_ns duration = 30m; and it is full within this time
-- parameter: recent_ns duration = 15m; the time whose rate counts
-- parameter: least_ns duration = 5m; the least time for a rate
-- column: host_id id; the host
-- column: run_id id; the run
-- column: run text; name of the run
-- column: user_id user; whose run
-- column: mount_point text; where the file system is mounted
-- column: type text; kind of file system
-- column: working_directory text; a working directory on it
-- column: since_unix_ns time; when it was asked
-- column: available_bytes bytes; what can still be written
-- column: total_bytes bytes; size of the file system
-- column: available_share share; share that can still be written
-- column: full_unix_ns time; when it will be full at the rate of that time, unknown: not soon
-- column: outlook text; the same in words
-- subject: run
-- sentence: {available_bytes} of {total_bytes} left on {mount_point}{outlook}
-- advice: Delete what is no longer needed, or work elsewhere: writing fails once it is full.
WITH reading AS (
  SELECT host_id AS reading_host_id, mount_point AS reading_point, type AS reading_type, unix_ns AS reading_unix_ns,
         total_bytes AS reading_total_bytes, available_bytes AS reading_bytes,
         max(unix_ns) OVER (PARTITION BY host_id, mount_point) AS last_unix_ns
    FROM file_system_samples
   WHERE unix_ns >= :seen_unix_ns - :recent_ns
     AND host_id IN (SELECT id FROM hosts WHERE last_seen_unix_ns >= :seen_unix_ns)
), recent AS (
  SELECT reading_host_id, reading_point, reading_type, reading_unix_ns, reading_total_bytes, reading_bytes, last_unix_ns,
         row_number() OVER (PARTITION BY reading_host_id, reading_point ORDER BY reading_unix_ns) AS place
    FROM reading
   WHERE reading_unix_ns >= last_unix_ns - :recent_ns
), mounted AS ( -- the latest figures, and those that the rate is from
  SELECT reading_host_id AS mounted_host_id, reading_point AS mounted_point, max(last_unix_ns) AS mounted_unix_ns,
         max(CASE WHEN reading_unix_ns = last_unix_ns THEN reading_type END) AS mounted_type,
         max(CASE WHEN reading_unix_ns = last_unix_ns THEN reading_total_bytes END) AS mounted_total_bytes,
         max(CASE WHEN reading_unix_ns = last_unix_ns THEN reading_bytes END) AS mounted_bytes,
         max(last_unix_ns - reading_unix_ns) AS rated_ns,
         max(CASE WHEN place = 1 THEN reading_bytes END)
           - max(CASE WHEN reading_unix_ns = last_unix_ns THEN reading_bytes END) AS rated_bytes
    FROM recent
   GROUP BY reading_host_id, reading_point
), known AS (
  SELECT mounted_host_id, mounted_point, mounted_type, mounted_unix_ns, mounted_total_bytes, mounted_bytes,
         CASE WHEN mounted_point = '/' THEN '/' ELSE mounted_point || '/' END AS mounted_prefix,
         CASE WHEN rated_ns >= :least_ns AND rated_bytes > 0
                   AND mounted_bytes <= :filling_share * mounted_total_bytes
                   AND 1.0 * mounted_bytes / rated_bytes <= 1.0 * :filling_ns / rated_ns
              THEN mounted_unix_ns + CAST(1.0 * mounted_bytes / rated_bytes * rated_ns AS BIGINT) END AS filled_unix_ns
    FROM mounted
), nearly AS (
  SELECT mounted_host_id AS nearly_host_id, mounted_point AS nearly_point
    FROM known
   WHERE filled_unix_ns IS NOT NULL
      OR (mounted_bytes <= :full_share * mounted_total_bytes AND mounted_bytes <= :full_bytes)
), directory AS ( -- where the runs of these hosts work
  SELECT host_id AS directory_host_id, run_id AS directory_run_id, working_directory AS directory_path
    FROM open_processes
   WHERE container_id IS NULL AND working_directory IS NOT NULL AND host_id IN (SELECT nearly_host_id FROM nearly)
   UNION ALL
  SELECT host_id, run_id, working_directory
    FROM open_tasks
   WHERE container_id IS NULL AND working_directory IS NOT NULL AND host_id IN (SELECT nearly_host_id FROM nearly)
   UNION ALL
  SELECT host_id, id, working_directory
    FROM work_runs
   WHERE end_boot_ns IS NULL AND container_id IS NULL AND working_directory IS NOT NULL
     AND host_id IN (SELECT nearly_host_id FROM nearly)
), placed AS ( -- on the file system with the longest mount point above it
  SELECT directory.directory_host_id, directory.directory_run_id, directory.directory_path,
         known.mounted_point AS placed_point,
         row_number() OVER (PARTITION BY directory.directory_host_id, directory.directory_run_id, directory.directory_path
                            ORDER BY length(known.mounted_prefix) DESC) AS place
    FROM directory
    JOIN known ON known.mounted_host_id = directory.directory_host_id
   WHERE substr(directory.directory_path || '/', 1, length(known.mounted_prefix)) = known.mounted_prefix
), working AS (
  SELECT directory_host_id AS working_host_id, directory_run_id AS working_run_id, placed_point AS working_point,
         min(directory_path) AS working_path
    FROM placed
   WHERE place = 1 AND (directory_host_id, placed_point) IN (SELECT nearly_host_id, nearly_point FROM nearly)
   GROUP BY directory_host_id, directory_run_id, placed_point
)
SELECT working.working_host_id AS host_id, r.id AS run_id, r.name AS run, r.user_id AS user_id,
       working.working_point AS mount_point, known.mounted_type AS type, working.working_path AS working_directory,
       known.mounted_unix_ns AS since_unix_ns, known.mounted_bytes AS available_bytes,
       known.mounted_total_bytes AS total_bytes,
       1.0 * known.mounted_bytes / known.mounted_total_bytes AS available_share, known.filled_unix_ns AS full_unix_ns,
       CASE WHEN known.filled_unix_ns IS NOT NULL THEN ', full soon at this rate' ELSE '' END AS outlook
  FROM working
  JOIN known ON known.mounted_host_id = working.working_host_id AND known.mounted_point = working.working_point
  JOIN work_runs r ON r.host_id = working.working_host_id AND r.id = working.working_run_id
 WHERE r.end_boot_ns IS NULL
 ORDER BY available_share, r.id, mount_point;
