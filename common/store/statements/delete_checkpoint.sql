-- The process ended: nothing to remember.
DELETE FROM checkpoints WHERE process_id = :process_id;
