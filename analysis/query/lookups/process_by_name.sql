-- The processes of a program, the latest image first. Scans all processes.
-- :name the complete base name of the program. At most 20.
SELECT *, end_boot_ns - begin_boot_ns AS wall_ns FROM processes
 WHERE program = :name
 ORDER BY started_unix_ns DESC, exec_id DESC, id
 LIMIT 20;
