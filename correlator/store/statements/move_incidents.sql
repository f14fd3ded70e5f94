-- The incidents of a merged task.
UPDATE incidents SET rev = next_rev(), task_id = :to_task_id WHERE task_id = :from_task_id;
