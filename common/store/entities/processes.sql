SELECT * FROM processes WHERE rev > :cursor ORDER BY rev LIMIT :limit;
