SELECT * FROM losses WHERE rev > :cursor ORDER BY rev LIMIT :limit;
