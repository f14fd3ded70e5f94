-- So that expire_images.sql keeps it, whether its processes are read before or after they are stored.
INSERT OR IGNORE INTO used_images (id, tool_id) VALUES (:id, -1);
