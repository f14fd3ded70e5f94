-- The runs whose id is in a range: that of a prefix of an id, or of a whole id.
-- :first_id, :last_id the range. At most 20, latest first.
SELECT * FROM standing_runs
 WHERE id BETWEEN :first_id AND :last_id
 ORDER BY started_unix_ns DESC, id
 LIMIT 20;
