INSERT INTO images (path, program, reason, rule, role) VALUES (:path, :program, :reason, :rule, :role);
