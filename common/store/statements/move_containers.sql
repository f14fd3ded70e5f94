-- The containers that a merged task had started.
UPDATE containers SET rev = next_rev(), task_id = :to_task_id WHERE task_id = :from_task_id;
