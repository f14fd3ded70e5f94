-- The containers started by a merged task.
UPDATE containers SET rev = next_rev(), task_id = :to_task_id WHERE task_id = :from_task_id;
