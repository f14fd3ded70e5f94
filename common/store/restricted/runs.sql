SELECT * FROM main.runs WHERE user_id = reader_user_id();
