-- The processes that had a pid, the latest image first. Scans all processes.
-- :pid in the initial namespace; :host, :user_id only those on this host, of this user; NULL: any. At most 20.
SELECT *, end_boot_ns - begin_boot_ns AS wall_ns FROM processes
 WHERE pid = :pid
   AND (:host IS NULL OR host_id IN (SELECT id FROM hosts WHERE hostname = :host))
   AND (:user_id IS NULL OR user_id = :user_id)
 ORDER BY started_unix_ns DESC, exec_id DESC, id
 LIMIT 20;
