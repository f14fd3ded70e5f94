-- For tracer-correlator: the runs in its state.
SELECT e.*, s.id AS state_id, s.state, e.id IS NULL AS is_lost
  FROM states s LEFT JOIN runs e ON e.id = s.id
 WHERE s.entity = 'run' ORDER BY e.begin_boot_ns, s.id;
