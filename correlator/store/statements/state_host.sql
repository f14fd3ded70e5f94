-- For tracer-correlator: the host and its state.
SELECT h.id, h.first_seen_unix_ns, h.last_seen_unix_ns, h.boot_unix_ns, h.gpus, s.state, 0 AS is_lost,
       (SELECT count(*) FROM process_rows WHERE end_boot_ns IS NULL) AS living_count
  FROM hosts h LEFT JOIN states s ON s.entity = 'host';
