-- Clocks of GPUs, how long their memory was in use, and which GPUs a host has.

ALTER TABLE runs ADD COLUMN gpu_clock_ns INTEGER; -- ns; gpu_busy_ns, times the share of their highest clock at which the processors of the devices ran, NULL: not reported; see processes
ALTER TABLE runs ADD COLUMN gpu_memory_clock_ns INTEGER; -- ns; the same of the clock of their memory, NULL: not reported; see processes
ALTER TABLE runs ADD COLUMN gpu_memory_busy_ns INTEGER; -- ns; time that the memory of the devices was read or written for its processes, NULL: not reported; see processes
ALTER TABLE tasks ADD COLUMN gpu_clock_ns INTEGER; -- ns; gpu_busy_ns, times the share of their highest clock at which the processors of the devices ran, NULL: not reported; see processes
ALTER TABLE tasks ADD COLUMN gpu_memory_clock_ns INTEGER; -- ns; the same of the clock of their memory, NULL: not reported; see processes
ALTER TABLE tasks ADD COLUMN gpu_memory_busy_ns INTEGER; -- ns; time that the memory of the devices was read or written for its processes, NULL: not reported; see processes
ALTER TABLE tools ADD COLUMN gpu_clock_ns INTEGER; -- ns; gpu_busy_ns, times the share of their highest clock at which the processors of the devices ran, NULL: not reported; see processes
ALTER TABLE tools ADD COLUMN gpu_memory_clock_ns INTEGER; -- ns; the same of the clock of their memory, NULL: not reported; see processes
ALTER TABLE tools ADD COLUMN gpu_memory_busy_ns INTEGER; -- ns; time that the memory of the devices was read or written for its processes, NULL: not reported; see processes
-- See views.sql
ALTER TABLE process_rows ADD COLUMN gpu_clock_ns INTEGER;
ALTER TABLE process_rows ADD COLUMN gpu_memory_clock_ns INTEGER;
ALTER TABLE process_rows ADD COLUMN gpu_memory_busy_ns INTEGER;

ALTER TABLE hosts ADD COLUMN gpus TEXT; -- text; GPU devices that it has, separated by commas, NULL: no sampler reported any; sampler

-- needed_bytes in the views of runs and tasks (views.sql); tables are unchanged.
-- The views gpu_processes and repeatable_versions (views.sql).
