-- When a host was watched: while its own services ran, a run of this kind for each boot.
-- :host_id the host; :kind the kind of run, system.
SELECT started_unix_ns AS begin_unix_ns, started_unix_ns + wall_ns AS end_unix_ns
  FROM standing_runs
 WHERE host_id = :host_id AND kind = :kind
 ORDER BY started_unix_ns, id;
