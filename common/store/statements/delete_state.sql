-- Nothing of it is in memory any more.
DELETE FROM states WHERE id = :id;
