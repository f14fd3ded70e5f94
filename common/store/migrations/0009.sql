-- Requested cores: threads that command lines ask for; and the view host_activity (views.sql).

ALTER TABLE tasks ADD COLUMN requested_thread_count INTEGER; -- count; threads that its command lines ask for: the most of any of its tools, NULL: unknown; rules
ALTER TABLE tools ADD COLUMN requested_thread_count INTEGER; -- count; threads that the options of its command lines ask for: the most of any of its processes, NULL: unknown; rules
