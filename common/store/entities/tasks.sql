SELECT * FROM tasks WHERE rev > :cursor ORDER BY rev LIMIT :limit;
