-- A process over time.
-- :process_id the process; :host_id its host.
SELECT * FROM placed_samples
 WHERE host_id = :host_id AND process_id = :process_id
 ORDER BY boot_ns;
