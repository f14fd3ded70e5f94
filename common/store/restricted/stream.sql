-- How far the collection has got.
SELECT * FROM main.stream;
