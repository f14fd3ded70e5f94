-- Those of entities: what has no entity is below 1.
DELETE FROM checkpoints WHERE process_id > 0;
