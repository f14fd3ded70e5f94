-- What the correlator remembers of what lives: its own, no reader's.
SELECT process_id, state FROM checkpoints ORDER BY process_id;
