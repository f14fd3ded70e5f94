-- What the kernel side had to drop on this host, latest first.
-- :since_unix_ns; :limit rows.
SELECT * FROM losses
 WHERE unix_ns + (last_boot_ns - first_boot_ns) >= :since_unix_ns
 ORDER BY unix_ns DESC, id
 LIMIT :limit;
