-- Which GPU devices each host has, as its samplers report them, and which lists of devices its processes held: what is known
-- of the devices of a host without a sampler. Who sees only some users' processes knows less of these.
SELECT host_id, gpu
  FROM (SELECT id AS host_id, gpus AS gpu FROM hosts WHERE gpus IS NOT NULL
         UNION ALL SELECT DISTINCT host_id, gpu FROM gpu_processes) device
 ORDER BY host_id, gpu;
