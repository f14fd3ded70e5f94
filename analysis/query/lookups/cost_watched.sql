-- When a host was watched: while its own services ran, a run of this kind for each boot; where that was never seen, in a
-- store of tracer run, while its commands ran. Where the wall clock was set, as if it always had been right.
-- :host_id the host, NULL for all; :kind the kind of run, system.
-- needs: all users
WITH clock AS ( -- how far the wall clock was from the boot clock since it was set
  SELECT host_id AS clock_host_id, run_id AS clock_run_id, unix_ns - boot_ns AS clock_ns,
         row_number() OVER (PARTITION BY host_id, run_id ORDER BY boot_ns DESC) AS place
    FROM incidents
   WHERE kind = 'clock'
), watched AS (
  SELECT r.host_id AS watched_host_id, r.id AS watched_run_id, r.wall_ns AS watched_ns,
         coalesce(r.begin_boot_ns + clock.clock_ns, r.started_unix_ns) AS watched_unix_ns
    FROM standing_runs r
    LEFT JOIN clock ON clock.clock_host_id = r.host_id AND clock.clock_run_id = r.id AND clock.place = 1
   WHERE (:host_id IS NULL OR r.host_id = :host_id)
     AND (r.kind = :kind
          OR (r.kind = 'command' AND r.host_id NOT IN (SELECT host_id FROM runs
                                                        WHERE (:host_id IS NULL OR host_id = :host_id) AND kind = :kind)))
)
SELECT watched_host_id AS host_id, watched_unix_ns AS begin_unix_ns, watched_unix_ns + watched_ns AS end_unix_ns
  FROM watched
 ORDER BY watched_host_id, watched_unix_ns, watched_run_id;
