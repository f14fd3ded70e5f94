-- The parts of runs that several hosts share (joined_runs), each with the one that stands for all,
-- itself among them.
-- :run_id of the run that this is a part of, NULL: of all; :since_unix_ns begun at or after.
WITH part AS (
  SELECT id AS part_id, host_id AS part_host_id, joined_id FROM joined_runs
   WHERE joined_unix_ns >= :since_unix_ns AND part_count > 1
     AND (:run_id IS NULL
          OR joined_id IN (SELECT joined_id FROM joined_runs WHERE id = :run_id))
)
SELECT standing_runs.*, part.joined_id AS joined_id
  FROM part JOIN standing_runs ON standing_runs.id = part.part_id
 WHERE standing_runs.host_id IN (SELECT part_host_id FROM part)
   AND standing_runs.id IN (SELECT part_id FROM part)
 ORDER BY joined_id, started_unix_ns, id;
