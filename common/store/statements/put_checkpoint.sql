-- What the correlator must remember of one living process.
INSERT INTO checkpoints (process_id, state) VALUES (:process_id, :state)
    ON CONFLICT (process_id) DO UPDATE SET state = excluded.state;
