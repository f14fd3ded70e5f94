-- The runs whose id is in a range: that of a prefix of an id, or of a whole id.
-- :first_id, :last_id the range; :host, :user_id only those on this host, of this user; NULL: any. At most 20, latest first.
SELECT * FROM standing_runs
 WHERE id BETWEEN :first_id AND :last_id
   AND (:host IS NULL OR host = :host) AND (:user_id IS NULL OR user_id = :user_id)
 ORDER BY started_unix_ns DESC, id
 LIMIT 20;
