-- The processes of a tool that moved to another task: gives them new revisions, so that they are read again.
UPDATE process_rows SET rev = next_rev() WHERE tool_id = :tool_id;
