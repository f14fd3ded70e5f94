-- The processes whose id lies in a range: a prefix of an id, or all of it.
-- :first_id, :last_id the range. At most 20, latest first.
SELECT *, end_boot_ns - begin_boot_ns AS wall_ns FROM processes
 WHERE id BETWEEN :first_id AND :last_id
 ORDER BY started_unix_ns DESC, exec_id DESC, id
 LIMIT 20;
