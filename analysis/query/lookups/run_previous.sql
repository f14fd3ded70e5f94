-- Earlier runs of the same work, over before it began: of the same name, user and working directory on the same host, the
-- latest first.
-- :run_id the run; :host_id its host.
SELECT *
  FROM standing_runs
 WHERE host_id = :host_id
   AND (name, kind, user_id, working_directory, host_id) IN
       (SELECT name, kind, user_id, working_directory, host_id FROM runs WHERE host_id = :host_id AND id = :run_id)
   AND started_unix_ns + wall_ns <= (SELECT started_unix_ns FROM runs WHERE host_id = :host_id AND id = :run_id)
 ORDER BY started_unix_ns DESC, id
 LIMIT 20;
