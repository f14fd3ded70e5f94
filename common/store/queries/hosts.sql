-- The hosts of this store, for daemons, which do not use the query layer. No parameters.
SELECT * FROM hosts ORDER BY hostname, id;
