-- title: Which hosts have not been heard of?
-- explanation: Hosts that were heard of in the window, and not since some time. They may be off, or their probe or
--   shipper may have stopped: what they cost since then is not known.
-- finding: sweep
-- parameter: since_unix_ns time = 7d; only what was seen from then on
-- parameter: now_unix_ns time = 0s; the present
-- parameter: least_ns duration = 1h; minimum time; source: our proposal (docs/sweep.md)
-- column: host_id id; the host
-- column: hostname text; host name
-- column: since_unix_ns time; when it began
-- column: until_unix_ns time; when it ended, or was last seen
-- column: is_now flag; whether it went on when the host was last heard of
-- column: certainty text; certain, or likely if something in that time was not seen
-- column: run_id id; the run it is tied to; unknown if none
-- column: run text; name of that run
-- column: silent_ns duration; time since it was last heard of
-- column: held_cpu_ns duration; unknown
-- subject: hostname
-- impact: cpu = held_cpu_ns
-- sentence: {hostname} has not been heard of for {silent_ns}
-- advice: If it still runs, start its services again (tracer doctor); what it costs is not known until then.
SELECT id AS host_id, hostname AS hostname, last_seen_unix_ns AS since_unix_ns, last_seen_unix_ns AS until_unix_ns,
       0 AS is_now, 'likely' AS certainty, NULL AS run_id, NULL AS run, :now_unix_ns - last_seen_unix_ns AS silent_ns,
       NULL AS held_cpu_ns
  FROM hosts
 WHERE last_seen_unix_ns >= :since_unix_ns AND last_seen_unix_ns <= :now_unix_ns - :least_ns
 ORDER BY last_seen_unix_ns, id;
