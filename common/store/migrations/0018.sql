-- Memory at one time: by how much it may be too low, and the part of each process. needed_bytes of the views of runs and
-- tasks (views.sql) is peak_memory_bytes.

ALTER TABLE runs ADD COLUMN unattributed_memory_bytes INTEGER; -- bytes; the most at one scan that its memory cgroup held beyond what processes had mapped (files in memory), more than before the run began, if others have processes there too, so that it may be theirs: concurrent_memory_bytes may be too low by so much; 0: it is the run's, and included, NULL: unknown; samples
ALTER TABLE tasks ADD COLUMN unattributed_memory_bytes INTEGER; -- bytes; the same of the task; samples
ALTER TABLE tools ADD COLUMN unattributed_memory_bytes INTEGER; -- bytes; the same of the tool; samples
ALTER TABLE samples ADD COLUMN memory_bytes INTEGER; -- bytes; its part of the memory that its tool, task and run held at that scan: anonymous and shared memory, what several processes share counted once, NULL: unknown; scan
