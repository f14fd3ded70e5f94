-- Deletes all states but the host's.
DELETE FROM states WHERE entity <> 'host';
