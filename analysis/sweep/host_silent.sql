-- title: Which hosts have not been heard of?
-- explanation: Hosts that were heard of in the window, and not since some time, although work ran when they were last
--   heard of: their probe or shipper may have stopped, or they were taken away under it. A host that had nothing to do
--   was more likely switched off and is not listed, nor is a spot instance. What it costs since then is not known.
-- finding: sweep
-- parameter: since_unix_ns time = 7d; only what was seen from then on
-- parameter: now_unix_ns time = 0s; the present
-- parameter: least_ns duration = 1h; minimum time; source: our proposal (docs/sweep.md)
-- column: run_id id; the run it is tied to: one that was running
-- column: silent_ns duration; time since it was last heard of
-- column: held_cpu_ns duration; unknown
-- subject: hostname
-- impact: cpu = held_cpu_ns
-- sentence: {hostname} has not been heard of for {silent_ns}, although {run} was running there
-- advice: If it still runs, start its services again (tracer doctor); what it costs is not known until then.
WITH open_run AS (
  SELECT host_id AS open_host_id, id AS open_run_id, name AS open_run,
         row_number() OVER (PARTITION BY host_id ORDER BY started_unix_ns DESC, id) AS place
    FROM work_runs
   WHERE end_boot_ns IS NULL AND kind <> 'service'
)
SELECT h.id AS host_id, h.hostname AS hostname, h.last_seen_unix_ns AS since_unix_ns,
       h.last_seen_unix_ns AS until_unix_ns, 0 AS is_now, 'likely' AS certainty, open_run.open_run_id AS run_id,
       open_run.open_run AS run, :now_unix_ns - h.last_seen_unix_ns AS silent_ns, NULL AS held_cpu_ns
  FROM hosts h JOIN open_run ON open_run.open_host_id = h.id
 WHERE open_run.place = 1 AND coalesce(h.cloud_lifecycle, '') <> 'spot'
   AND h.last_seen_unix_ns >= :since_unix_ns AND h.last_seen_unix_ns <= :now_unix_ns - :least_ns
 ORDER BY h.last_seen_unix_ns, h.id;
