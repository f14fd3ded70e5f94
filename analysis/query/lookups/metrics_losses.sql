-- Records that were lost lately, by host and kind, for tracer metrics. Not the total: old losses are deleted.
-- :since_unix_ns losses that were over before it are left out; :host only of the hosts of this name, NULL: all.
SELECT h.cluster AS cluster, h.hostname AS host, l.kind AS kind, sum(l.lost_count) AS lost_count
  FROM losses l JOIN hosts h ON h.id = l.host_id
 WHERE l.unix_ns + (l.last_boot_ns - l.first_boot_ns) >= :since_unix_ns AND (:host IS NULL OR h.hostname = :host)
 GROUP BY h.cluster, h.hostname, l.kind
 ORDER BY host, cluster NULLS FIRST, kind;
