-- The runs whose id lies in a range: a prefix of an id, or all of it.
-- :first_id, :last_id the range. At most 20, latest first.
SELECT * FROM standing_runs
 WHERE id BETWEEN :first_id AND :last_id
 ORDER BY started_unix_ns DESC, id
 LIMIT 20;
