-- When the wall clock of a host was set, the latest of each host: times from before are wrong.
-- :host the host, NULL for all; :since_unix_ns only what was set from then on.
SELECT hostname, unix_ns, sentence
  FROM (SELECT h.hostname AS hostname, i.unix_ns AS unix_ns, i.sentence AS sentence,
               row_number() OVER (PARTITION BY i.host_id ORDER BY i.rev DESC) AS place
          FROM incidents i JOIN hosts h ON h.id = i.host_id
         WHERE i.kind = 'clock' AND i.unix_ns >= :since_unix_ns AND (:host IS NULL OR h.hostname = :host)) latest
 WHERE place = 1
 ORDER BY unix_ns DESC, hostname;
