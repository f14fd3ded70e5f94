-- Those that a run of theirs started, or began in.
SELECT * FROM main.containers c
 WHERE EXISTS (SELECT 1 FROM main.runs r WHERE r.id = c.run_id AND r.user_id = reader_user_id())
    OR c.id IN (SELECT container_id FROM main.runs WHERE user_id = reader_user_id());
