-- The tasks, merged ones included, whose id is in a range: that of a prefix of an id, or of a whole id.
-- :first_id, :last_id the range; :host, :user_id only those on this host, of this user; NULL: any. At most 20.
SELECT *, end_boot_ns - begin_boot_ns AS wall_ns FROM tasks
 WHERE id BETWEEN :first_id AND :last_id
   AND (:host IS NULL OR host_id IN (SELECT id FROM hosts WHERE hostname = :host))
   AND (:user_id IS NULL OR run_id IN (SELECT id FROM runs WHERE user_id = :user_id))
 ORDER BY started_unix_ns DESC, id
 LIMIT 20;
