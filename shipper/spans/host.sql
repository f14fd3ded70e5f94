SELECT * FROM hosts WHERE id = :id;
