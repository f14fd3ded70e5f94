-- GPUs that lowered their clocks, and how much memory they have.

ALTER TABLE runs ADD COLUMN gpu_throttled_ns INTEGER; -- ns; part of gpu_busy_ns in which the device had lowered its clocks because of heat or power, NULL: not reported; see processes
ALTER TABLE tasks ADD COLUMN gpu_throttled_ns INTEGER; -- ns; part of gpu_busy_ns in which the device had lowered its clocks because of heat or power, NULL: not reported; see processes
ALTER TABLE tools ADD COLUMN gpu_throttled_ns INTEGER; -- ns; part of gpu_busy_ns in which the device had lowered its clocks because of heat or power, NULL: not reported; see processes
-- See views.sql
ALTER TABLE process_rows ADD COLUMN gpu_throttled_ns INTEGER;
ALTER TABLE process_rows ADD COLUMN gpu_capacity_bytes INTEGER;
