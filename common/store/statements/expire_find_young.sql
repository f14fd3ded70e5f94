-- The revision from which on rows were written after that time: the first of a run that ended, or
-- of a sample of the host that was taken, since. What a clock that was wrong calls the future does
-- not count. NULL: there is none.
SELECT min(rev)
  FROM (SELECT min(rev) AS rev FROM runs
         WHERE end_boot_ns IS NOT NULL
           AND started_unix_ns + (end_boot_ns - begin_boot_ns) BETWEEN :before_unix_ns AND :future_unix_ns
         UNION ALL
        SELECT min(rev) FROM host_samples WHERE unix_ns BETWEEN :before_unix_ns AND :future_unix_ns);
