-- For tracer-correlator: the tasks in its state.
SELECT e.*, s.id AS state_id, s.state, e.id IS NULL AS is_lost
  FROM states s LEFT JOIN tasks e ON e.id = s.id
 WHERE s.entity = 'task' ORDER BY e.begin_boot_ns, s.id;
