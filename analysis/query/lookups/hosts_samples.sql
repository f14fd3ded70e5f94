-- The samples of hosts in a time, by host, the latest first.
-- :since_unix_ns, :until_unix_ns the time, NULL: until now; :host only of the host of this name, NULL: of all.
SELECT * FROM host_samples
 WHERE unix_ns >= :since_unix_ns
   AND (:until_unix_ns IS NULL OR unix_ns < :until_unix_ns)
   AND (:host IS NULL OR host_id IN (SELECT id FROM hosts WHERE hostname = :host))
 ORDER BY host_id, unix_ns DESC;
