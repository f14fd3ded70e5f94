-- GPUs: the time that they worked for a process, its memory on them, and their energy.

ALTER TABLE runs ADD COLUMN gpu_busy_ns INTEGER; -- ns; time that GPUs worked for its processes, summed over devices, NULL: not reported; see processes
ALTER TABLE runs ADD COLUMN gpu_energy_uj INTEGER; -- microjoule; energy of GPUs while one of its processes alone held them, NULL: never alone, or not reported; see processes
ALTER TABLE runs ADD COLUMN gpu_peak_bytes INTEGER; -- bytes; largest peak of GPU memory of one process; see processes
ALTER TABLE tasks ADD COLUMN gpu_busy_ns INTEGER; -- ns; time that GPUs worked for its processes, summed over devices, NULL: not reported; see processes
ALTER TABLE tasks ADD COLUMN gpu_energy_uj INTEGER; -- microjoule; energy of GPUs while one of its processes alone held them, NULL: never alone, or not reported; see processes
ALTER TABLE tasks ADD COLUMN gpu_peak_bytes INTEGER; -- bytes; largest peak of GPU memory of one process; see processes
ALTER TABLE tools ADD COLUMN gpu_busy_ns INTEGER; -- ns; time that GPUs worked for its processes, summed over devices, NULL: not reported; see processes
ALTER TABLE tools ADD COLUMN gpu_energy_uj INTEGER; -- microjoule; energy of GPUs while one of its processes alone held them, NULL: never alone, or not reported; see processes
ALTER TABLE tools ADD COLUMN gpu_peak_bytes INTEGER; -- bytes; largest peak of GPU memory of one process; see processes
-- See views.sql
ALTER TABLE process_rows ADD COLUMN gpu_busy_ns INTEGER;
ALTER TABLE process_rows ADD COLUMN gpu_energy_uj INTEGER;
ALTER TABLE process_rows ADD COLUMN gpu_peak_bytes INTEGER;

ALTER TABLE samples ADD COLUMN gpu_busy_ns INTEGER; -- ns; time that GPUs worked for this image so far, NULL: not reported; sampler
ALTER TABLE samples ADD COLUMN gpu_memory_bytes INTEGER; -- bytes; GPU memory now, on all devices; sampler
