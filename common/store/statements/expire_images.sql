-- Images that no process refers to, once there are many images: few ever become unused.
DELETE FROM images
 WHERE (SELECT count(*) FROM images) > 10000
   AND id NOT IN (SELECT image_id FROM process_rows);
