-- The processes of one tool become those of another, and so of that one's task and run.
UPDATE process_rows SET rev = next_rev(), tool_id = :to_tool_id WHERE tool_id = :from_tool_id;
