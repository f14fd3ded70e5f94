-- A process over time.
-- :process_id the process.
SELECT * FROM samples
 WHERE process_id = :process_id
 ORDER BY boot_ns;
