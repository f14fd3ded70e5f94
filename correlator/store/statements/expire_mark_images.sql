-- Notes which images processes refer to, once there are many images; few ever become unused. Reading all
-- processes would take seconds in a large store: this continues where the previous call stopped.
INSERT OR REPLACE INTO used_images (id, tool_id)
SELECT image_id, max(tool_id)
  FROM (SELECT tool_id, image_id FROM process_rows
         WHERE (tool_id, image_id) > (SELECT tool_id, id FROM used_images ORDER BY tool_id DESC, id DESC LIMIT 1)
           AND (SELECT count(*) FROM images) > 10000
         ORDER BY tool_id, image_id LIMIT 200000)
 GROUP BY image_id;
