-- How many processes of a run have figures that are lower bounds, by cause: the process ended and no record of its end
-- is there (one that has ended and was not reaped yet does not count: it uses no more); it began before the probe; the
-- kernel side could not keep everything.
-- :run_id the run; :host_id its host.
SELECT count(CASE WHEN ended IN ('exit', 'lost', 'left') AND totals = 'sample' THEN 1 END) AS unfinished_count,
       count(CASE WHEN began = 'found' THEN 1 END) AS found_count,
       count(CASE WHEN partial = 1 THEN 1 END) AS partial_count
  FROM processes
 WHERE host_id = :host_id
   AND task_id IN (SELECT id FROM tasks WHERE host_id = :host_id AND run_id = :run_id);
