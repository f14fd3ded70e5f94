-- Incidents that began lately, by host and kind, for tracer metrics. Not the total: old ones are deleted.
-- :since_unix_ns earlier ones are left out; :host only the hosts of this name, :user_id only runs of this user, NULL: all.
SELECT h.cluster AS cluster, h.hostname AS host, i.kind AS kind, count(*) AS incident_count
  FROM incidents i JOIN hosts h ON h.id = i.host_id
 WHERE i.unix_ns >= :since_unix_ns AND (:host IS NULL OR h.hostname = :host)
   AND (:user_id IS NULL OR i.run_id IN (SELECT id FROM runs WHERE user_id = :user_id))
 GROUP BY h.cluster, h.hostname, i.kind
 ORDER BY host, cluster NULLS FIRST, kind;
