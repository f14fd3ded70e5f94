-- The processes of a tool that is in another task now: what reads them by revision reads them again.
UPDATE process_rows SET rev = next_rev() WHERE tool_id = :tool_id;
