-- For an entity that is no longer in memory.
DELETE FROM states WHERE id = :id;
