SELECT * FROM file_system_samples WHERE rev > :cursor ORDER BY rev LIMIT :limit;
