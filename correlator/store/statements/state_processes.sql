-- For tracer-correlator: the processes in its state, in the order of their starts, with the
-- image and the last sample of each.
SELECT p.*, i.role, i.rule, i.reason, i.program, i.path, t.host_id, t.run_id, t.task_id,
       s.id AS state_id, s.state, s.image_id IS NOT NULL AND p.id IS NULL AS is_lost,
       l.boot_ns AS sampled_boot_ns, l.cpu_ns AS sampled_cpu_ns,
       ifnull(l.rss_anon_bytes, 0) + ifnull(l.rss_shmem_bytes, 0) AS sampled_memory_bytes
  FROM states s
  LEFT JOIN process_rows p ON p.id = s.image_id
  LEFT JOIN images i ON i.id = p.image_id
  LEFT JOIN tools t ON t.id = p.tool_id
  LEFT JOIN samples l ON l.process_id = p.id AND
       l.boot_ns = (SELECT max(boot_ns) FROM samples WHERE process_id = p.id)
 WHERE s.entity = 'process' ORDER BY s.id;
