-- title: Which runs take longer than usual?
-- explanation: Running runs that have lasted longer than earlier successful ones of the same name, user and kind on the
--   same host: longer than the longest of these times a factor, and longer than their upper quartile plus a multiple of
--   their interquartile range, so that a name whose runs always differ gives no warning. A name with too few earlier runs
--   gives none either. Services do not count: they are meant to stay. In simulated histories of eight runs that differ by
--   half (log-normal, sigma 0.5), 2.4 % of normal runs were called slow; of twenty, 0.9 % (docs/live.md).
-- finding: top
-- parameter: seen_unix_ns time = 15m; only hosts that were heard of since
-- parameter: since_unix_ns time = 90d; only earlier runs that began from then on
-- parameter: least_count count = 8; minimum number of earlier runs; source: our proposal, simulated (docs/live.md)
-- parameter: least_ratio number = 1.25; minimum wall time, as a multiple of the longest earlier run; source: our proposal,
--   simulated (docs/live.md)
-- parameter: least_spread number = 3; minimum distance from the upper quartile, in interquartile ranges; source: Tukey,
--   Exploratory Data Analysis (1977): outer fence
-- parameter: least_ns duration = 1m; minimum time beyond the longest earlier run; source: our proposal (docs/live.md)
-- column: host_id id; the host
-- column: run_id id; the run
-- column: run text; name of the run
-- column: user_id user; whose run
-- column: since_unix_ns time; when it became slower than usual
-- column: wall_ns duration; how long it has been running
-- column: earlier_count count; earlier runs
-- column: median_ns duration; median wall time of these
-- column: longest_ns duration; longest wall time of these
-- subject: run
-- sentence: running for {wall_ns}; {earlier_count} earlier runs took at most {longest_ns}, half of them at most {median_ns}
-- advice: See what it does now (tracer show RUN, tracer top).
WITH living AS (
  SELECT host_id AS living_host_id, id AS living_id, name AS living_name, kind AS living_kind, user_id AS living_user_id,
         started_unix_ns AS living_unix_ns, life_ns AS living_ns
    FROM work_runs
   WHERE end_boot_ns IS NULL AND is_service = 0
     AND host_id IN (SELECT id FROM hosts WHERE last_seen_unix_ns >= :seen_unix_ns)
), placed AS (
  SELECT host_id AS placed_host_id, name AS placed_name, kind AS placed_kind, user_id AS placed_user_id,
         life_ns AS placed_ns,
         row_number() OVER (PARTITION BY host_id, name, kind, user_id ORDER BY life_ns, id) AS place,
         count(*) OVER (PARTITION BY host_id, name, kind, user_id) AS placed_count
    FROM work_runs
   WHERE status = 'succeeded' AND end_boot_ns IS NOT NULL AND started_unix_ns >= :since_unix_ns
     AND (host_id, name, kind, user_id) IN (SELECT living_host_id, living_name, living_kind, living_user_id FROM living)
), usual AS ( -- quartiles by nearest rank
  SELECT placed_host_id AS usual_host_id, placed_name AS usual_name, placed_kind AS usual_kind,
         placed_user_id AS usual_user_id, max(placed_count) AS usual_count, max(placed_ns) AS usual_longest_ns,
         max(CASE WHEN 4 * place < placed_count + 4 THEN placed_ns END) AS first_quartile_ns,
         max(CASE WHEN 4 * place < 2 * placed_count + 4 THEN placed_ns END) AS usual_median_ns,
         max(CASE WHEN 4 * place < 3 * placed_count + 4 THEN placed_ns END) AS third_quartile_ns
    FROM placed
   GROUP BY placed_host_id, placed_name, placed_kind, placed_user_id
  HAVING max(placed_count) >= :least_count
), bound AS (
  SELECT living.living_host_id AS bound_host_id, living.living_id AS bound_id, living.living_name AS bound_name,
         living.living_user_id AS bound_user_id, living.living_unix_ns AS bound_unix_ns, living.living_ns AS bound_wall_ns,
         usual.usual_count AS bound_count, usual.usual_median_ns AS bound_median_ns,
         usual.usual_longest_ns AS bound_longest_ns,
         CAST(:least_ratio * usual.usual_longest_ns AS BIGINT) AS ratio_ns,
         CAST(usual.third_quartile_ns + :least_spread * (usual.third_quartile_ns - usual.first_quartile_ns) AS BIGINT)
           AS fence_ns,
         usual.usual_longest_ns + :least_ns AS beyond_ns
    FROM living
    JOIN usual ON usual.usual_host_id = living.living_host_id AND usual.usual_name = living.living_name
              AND usual.usual_kind = living.living_kind AND usual.usual_user_id = living.living_user_id
), found AS (
  SELECT bound_host_id AS found_host_id, bound_id AS found_id, bound_name AS found_name, bound_user_id AS found_user_id,
         bound_unix_ns AS found_unix_ns, bound_wall_ns AS found_wall_ns, bound_count AS found_count,
         bound_median_ns AS found_median_ns, bound_longest_ns AS found_longest_ns,
         CASE WHEN ratio_ns >= fence_ns AND ratio_ns >= beyond_ns THEN ratio_ns
              WHEN fence_ns >= beyond_ns THEN fence_ns ELSE beyond_ns END AS most_ns
    FROM bound
)
SELECT found_host_id AS host_id, found_id AS run_id, found_name AS run, found_user_id AS user_id,
       found_unix_ns + most_ns AS since_unix_ns, found_wall_ns AS wall_ns, found_count AS earlier_count,
       found_median_ns AS median_ns, found_longest_ns AS longest_ns
  FROM found
 WHERE found_wall_ns > most_ns
 ORDER BY since_unix_ns, found_id;
