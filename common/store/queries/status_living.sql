-- What is going on now, and what was lost in all. No parameters.
SELECT (SELECT count(*) FROM standing_runs WHERE status = 'running') AS running_run_count,
       (SELECT count(*) FROM processes WHERE end_boot_ns IS NULL) AS living_process_count,
       (SELECT sum(lost_count) FROM losses) AS lost_count;
