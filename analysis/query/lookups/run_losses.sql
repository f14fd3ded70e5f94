-- The records dropped on the host of a run while it ran: some of them may be the run's.
-- :run_id the run; :host_id its host.
WITH span AS (
  SELECT host_id AS span_host_id, started_unix_ns AS span_begin_unix_ns,
         started_unix_ns + (end_boot_ns - begin_boot_ns) AS span_end_unix_ns
    FROM runs
   WHERE host_id = :host_id AND id = :run_id
)
SELECT losses.*
  FROM span JOIN losses ON losses.host_id = span.span_host_id
 WHERE losses.host_id = :host_id
   AND losses.unix_ns + (losses.last_boot_ns - losses.first_boot_ns) >= span.span_begin_unix_ns
   AND (span.span_end_unix_ns IS NULL OR losses.unix_ns <= span.span_end_unix_ns)
 ORDER BY losses.unix_ns, losses.id;
