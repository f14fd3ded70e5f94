-- The other parts of a run: runs of the same key on other hosts that went on at the same time,
-- give or take a minute, since clocks differ.
-- :run_id the run.
WITH this AS (
  SELECT host_id AS this_host_id, run_key AS this_key,
         started_unix_ns - 60000000000 AS this_begin_unix_ns,
         started_unix_ns + (end_boot_ns - begin_boot_ns) + 60000000000 AS this_end_unix_ns
    FROM runs
   WHERE id = :run_id AND run_key IS NOT NULL
), part AS (
  SELECT r.id AS part_id
    FROM this JOIN runs r ON r.run_key = this.this_key
   WHERE r.host_id <> this.this_host_id
     AND (this.this_end_unix_ns IS NULL OR r.started_unix_ns <= this.this_end_unix_ns)
     AND (r.end_boot_ns IS NULL
          OR r.started_unix_ns + (r.end_boot_ns - r.begin_boot_ns) >= this.this_begin_unix_ns)
)
SELECT * FROM standing_runs
 WHERE id IN (SELECT part_id FROM part)
 ORDER BY started_unix_ns, id;
