-- Then it begins again.
DELETE FROM used_images
 WHERE id <> 0
   AND NOT EXISTS (SELECT 1 FROM process_rows
                    WHERE (tool_id, image_id) > (SELECT tool_id, id FROM used_images
                                                  ORDER BY tool_id DESC, id DESC LIMIT 1));
