SELECT * FROM containers WHERE rev > :cursor ORDER BY rev LIMIT :limit;
