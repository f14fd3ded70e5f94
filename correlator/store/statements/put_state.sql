-- The state that the correlator keeps of an entity beyond its row; not written if unchanged.
INSERT INTO states (id, entity, image_id, state) VALUES (:id, :entity, :image_id, :state)
    ON CONFLICT (id) DO UPDATE SET image_id = excluded.image_id, state = excluded.state
     WHERE state <> excluded.state OR image_id IS NOT excluded.image_id;
