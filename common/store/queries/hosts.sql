-- The hosts of this store: for daemons, which ask the query layer nothing. No parameters.
SELECT * FROM hosts ORDER BY hostname, id;
