-- The processes that had a pid, the latest image first. Scans all processes.
-- :pid in the initial namespace. At most 20.
SELECT *, end_boot_ns - begin_boot_ns AS wall_ns FROM processes
 WHERE pid = :pid
 ORDER BY started_unix_ns DESC, exec_id DESC, id
 LIMIT 20;
