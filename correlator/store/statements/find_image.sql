-- The row of images that has these texts.
SELECT id FROM images
 WHERE path IS :path AND program IS :program AND reason IS :reason AND rule IS :rule AND role IS :role
 LIMIT 1;
