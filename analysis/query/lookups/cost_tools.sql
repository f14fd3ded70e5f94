-- Tools of a host that ran in a time, by task, with what divides the cost of a task among them.
-- :since_unix_ns, :until_unix_ns the time; :host_id the host.
-- needs: all users
SELECT task_id, name, cpu_ns, peak_rss_bytes AS memory_bytes, wall_ns
  FROM standing_tools
 WHERE started_unix_ns < :until_unix_ns AND host_id = :host_id
   AND (wall_ns IS NULL OR started_unix_ns + wall_ns > :since_unix_ns)
 ORDER BY task_id, begin_boot_ns, id;
