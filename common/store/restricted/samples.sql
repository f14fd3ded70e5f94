SELECT * FROM main.samples x
 WHERE EXISTS (SELECT 1 FROM main.process_rows p JOIN main.tools t ON t.id = p.tool_id JOIN main.runs r ON r.id = t.run_id
                WHERE p.id = x.process_id AND r.user_id = reader_user_id());
