-- The processes of a tool as they began.
-- :tool_id the tool; :host_id its host.
SELECT *, end_boot_ns - begin_boot_ns AS wall_ns FROM processes
 WHERE host_id = :host_id AND tool_id = :tool_id
 ORDER BY begin_boot_ns, id;
