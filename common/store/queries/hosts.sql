-- The hosts of this store. No parameters.
SELECT * FROM hosts
 ORDER BY hostname, id;
