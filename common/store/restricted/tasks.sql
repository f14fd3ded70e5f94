SELECT * FROM main.tasks x
 WHERE EXISTS (SELECT 1 FROM main.runs r WHERE r.id = x.run_id AND r.user_id = reader_user_id());
