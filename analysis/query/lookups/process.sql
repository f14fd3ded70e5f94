-- The processes whose id is in a range: that of a prefix of an id, or of a whole id.
-- :first_id, :last_id the range; :host, :user_id only those on this host, of this user; NULL: any. At most 20, latest first.
SELECT *, end_boot_ns - begin_boot_ns AS wall_ns FROM processes
 WHERE id BETWEEN :first_id AND :last_id
   AND (:host IS NULL OR host_id IN (SELECT id FROM hosts WHERE hostname = :host))
   AND (:user_id IS NULL OR user_id = :user_id)
 ORDER BY started_unix_ns DESC, exec_id DESC, id
 LIMIT 20;
