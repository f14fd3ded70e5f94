-- What the kernel side had to drop in all, by kind of record. No parameters.
SELECT kind, sum(lost_count) AS lost_count, max(unix_ns + (last_boot_ns - first_boot_ns)) AS last_unix_ns FROM losses
 GROUP BY kind
 ORDER BY kind;
