-- When a host was watched: while its own services ran, a run of this kind for each boot; where that was never seen, in a
-- store of tracer run, while its commands ran.
-- :host_id the host, NULL for all; :kind the kind of run, system.
-- needs: all users
SELECT host_id, started_unix_ns AS begin_unix_ns, started_unix_ns + wall_ns AS end_unix_ns
  FROM standing_runs
 WHERE (:host_id IS NULL OR host_id = :host_id)
   AND (kind = :kind
        OR (kind = 'command' AND host_id NOT IN (SELECT host_id FROM runs
                                                  WHERE (:host_id IS NULL OR host_id = :host_id) AND kind = :kind)))
 ORDER BY host_id, started_unix_ns, id;
