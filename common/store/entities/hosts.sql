SELECT *, id AS host_id FROM hosts WHERE rev > :cursor ORDER BY rev LIMIT :limit;
