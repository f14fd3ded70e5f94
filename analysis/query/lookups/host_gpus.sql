-- Which lists of GPU devices processes of each host held: what is known of the devices that the host has. Who sees only
-- some users' processes knows less of it.
SELECT DISTINCT host_id, gpu FROM processes WHERE gpu IS NOT NULL ORDER BY host_id, gpu;
