SELECT * FROM incidents WHERE rev > :cursor ORDER BY rev LIMIT :limit;
