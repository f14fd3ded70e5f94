-- Totals of the records that the kernel side dropped, by kind of record. No parameters.
SELECT kind, sum(lost_count) AS lost_count, max(unix_ns + (last_boot_ns - first_boot_ns)) AS last_unix_ns FROM losses
 GROUP BY kind
 ORDER BY kind;
