-- For tracer-correlator: the tools of the tasks in its state.
SELECT t.*, 0 AS is_lost FROM states s JOIN tools t ON t.task_id = s.id WHERE s.entity = 'task';
