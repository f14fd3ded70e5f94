SELECT * FROM host_samples WHERE rev > :cursor ORDER BY rev LIMIT :limit;
