-- Images that no process refers to any more, once there are many: few of them ever go.
DELETE FROM images
 WHERE (SELECT count(*) FROM images) > 10000
   AND id NOT IN (SELECT image_id FROM process_rows);
