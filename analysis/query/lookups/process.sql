-- The processes whose id is in a range: that of a prefix of an id, or of a whole id.
-- :first_id, :last_id the range. At most 20, latest first.
SELECT *, end_boot_ns - begin_boot_ns AS wall_ns FROM processes
 WHERE id BETWEEN :first_id AND :last_id
 ORDER BY started_unix_ns DESC, exec_id DESC, id
 LIMIT 20;
