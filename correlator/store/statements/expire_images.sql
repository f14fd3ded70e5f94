-- Images that no process refers to, once all processes were read (expire_mark_images.sql).
DELETE FROM images
 WHERE id NOT IN (SELECT id FROM used_images)
   AND NOT EXISTS (SELECT 1 FROM process_rows
                    WHERE (tool_id, image_id) > (SELECT tool_id, id FROM used_images
                                                  ORDER BY tool_id DESC, id DESC LIMIT 1));
