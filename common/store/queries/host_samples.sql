-- How a host was over time, latest first: counters since its boot.
-- :host_id the host; :since_unix_ns; :limit rows.
SELECT * FROM host_samples
 WHERE host_id = :host_id AND unix_ns >= :since_unix_ns
 ORDER BY unix_ns DESC
 LIMIT :limit;
