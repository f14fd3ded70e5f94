-- Of all but the host.
DELETE FROM states WHERE entity <> 'host';
