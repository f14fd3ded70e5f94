-- What was dropped while a run lived, anywhere on its host: what is missing may be its.
-- :run_id the run.
SELECT l.*
  FROM runs r JOIN losses l ON l.host_id = r.host_id
 WHERE r.id = :run_id
   AND l.unix_ns + (l.last_boot_ns - l.first_boot_ns) >= r.started_unix_ns
   AND (r.end_boot_ns IS NULL
        OR l.unix_ns <= r.started_unix_ns + (r.end_boot_ns - r.begin_boot_ns))
 ORDER BY l.unix_ns, l.id;
