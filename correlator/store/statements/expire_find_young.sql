-- The first revision written after :before_unix_ns: that of the first run that ended, or host
-- sample that was taken, since. Times in the future, from a wrong clock, are ignored.
-- NULL if there is none.
SELECT min(rev)
  FROM (SELECT min(rev) AS rev FROM runs
         WHERE end_boot_ns IS NOT NULL
           AND started_unix_ns + (end_boot_ns - begin_boot_ns) BETWEEN :before_unix_ns AND :future_unix_ns
         UNION ALL
        SELECT min(rev) FROM host_samples WHERE unix_ns BETWEEN :before_unix_ns AND :future_unix_ns);
