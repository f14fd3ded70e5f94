-- The parts of runs that several hosts share (joined_runs), each with the part that represents them all,
-- which is in the result, too.
-- :run_id any part of the run, NULL for all runs; :since_unix_ns runs that began at or after it.
-- The keys are selected first, so that only the runs with these keys are joined.
WITH keyed AS (
  SELECT run_key AS wanted_key FROM runs
   WHERE run_key IS NOT NULL
     AND ((:run_id IS NULL AND started_unix_ns >= :since_unix_ns) OR id = :run_id)
), part AS (
  SELECT id AS part_id, host_id AS part_host_id, joined_id FROM joined_runs
   WHERE run_key IN (SELECT wanted_key FROM keyed)
     AND joined_unix_ns >= :since_unix_ns AND part_count > 1
     AND (:run_id IS NULL
          OR joined_id IN (SELECT joined_id FROM joined_runs
                            WHERE run_key IN (SELECT wanted_key FROM keyed) AND id = :run_id))
)
SELECT standing_runs.*, part.joined_id AS joined_id
  FROM part JOIN standing_runs ON standing_runs.id = part.part_id
 WHERE (standing_runs.host_id, standing_runs.id) IN (SELECT part_host_id, part_id FROM part)
 ORDER BY joined_id, started_unix_ns, id;
