SELECT * FROM runs WHERE rev > :cursor ORDER BY rev LIMIT :limit;
