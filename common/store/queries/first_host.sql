-- The host that was seen first: a store that was filled from recordings may have several.
SELECT id, first_seen_unix_ns FROM hosts ORDER BY first_seen_unix_ns, hostname, id LIMIT 1;
