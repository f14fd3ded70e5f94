SELECT * FROM tools WHERE rev > :cursor ORDER BY rev LIMIT :limit;
