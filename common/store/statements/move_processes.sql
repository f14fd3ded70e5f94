-- The processes of one tool become those of another, in another task.
UPDATE processes SET rev = next_rev(), task_id = :to_task_id, tool_id = :to_tool_id
 WHERE tool_id = :from_tool_id;
