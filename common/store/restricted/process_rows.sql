-- Of other users, too, that the run started (sudo, setuid).
SELECT * FROM main.process_rows x
 WHERE EXISTS (SELECT 1 FROM main.tools t JOIN main.runs r ON r.id = t.run_id
                WHERE t.id = x.tool_id AND r.user_id = reader_user_id());
