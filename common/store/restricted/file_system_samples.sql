-- What every user may ask now (df), not what all of them wrote over weeks.
SELECT * FROM main.file_system_samples
 WHERE unix_ns >= (SELECT max(last_seen_unix_ns) FROM main.hosts) - 1800000000000;
