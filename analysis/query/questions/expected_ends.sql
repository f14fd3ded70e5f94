-- title: When are runs expected to end?
-- explanation: Running runs, with the interval in which similar runs ended: earlier successful ones of the same name,
--   user and kind on the same host that lasted longer than this one has lasted so far. The interval is from their 10th to
--   their 90th percentile (nearest rank), so of fewer than ten it is from the shortest to the longest. A run without enough
--   of them is not listed: its end is unknown. The interval assumes that this run resembles those; in simulated histories it
--   held 57 to 67 % of the ends with five earlier runs, 70 to 78 % with twenty and more (docs/live.md).
-- parameter: seen_unix_ns time = 15m; only hosts that were heard of since
-- parameter: since_unix_ns time = 90d; only earlier runs that began from then on
-- parameter: least_count count = 5; minimum number of earlier runs that lasted longer
-- column: host_id id; the host
-- column: run_id id; the run
-- column: run text; name of the run
-- column: user_id user; whose run
-- column: earliest_unix_ns time; earliest expected end
-- column: latest_unix_ns time; latest expected end
-- column: earlier_count count; earlier runs that lasted longer
WITH living AS (
  SELECT host_id AS living_host_id, id AS living_id, name AS living_name, kind AS living_kind, user_id AS living_user_id,
         started_unix_ns AS living_unix_ns, life_ns AS living_ns
    FROM work_runs
   WHERE end_boot_ns IS NULL AND is_service = 0
     AND host_id IN (SELECT id FROM hosts WHERE last_seen_unix_ns >= :seen_unix_ns)
), earlier AS (
  SELECT host_id AS earlier_host_id, name AS earlier_name, kind AS earlier_kind, user_id AS earlier_user_id,
         life_ns AS earlier_ns, id AS earlier_id
    FROM work_runs
   WHERE status = 'succeeded' AND end_boot_ns IS NOT NULL AND started_unix_ns >= :since_unix_ns
     AND (host_id, name, kind, user_id) IN (SELECT living_host_id, living_name, living_kind, living_user_id FROM living)
), placed AS (
  SELECT living.living_host_id AS placed_host_id, living.living_id AS placed_id, living.living_name AS placed_name,
         living.living_user_id AS placed_user_id, living.living_unix_ns AS placed_unix_ns,
         earlier.earlier_ns AS placed_ns,
         row_number() OVER (PARTITION BY living.living_host_id, living.living_id
                            ORDER BY earlier.earlier_ns, earlier.earlier_id) AS place,
         count(*) OVER (PARTITION BY living.living_host_id, living.living_id) AS placed_count
    FROM living
    JOIN earlier ON earlier.earlier_host_id = living.living_host_id AND earlier.earlier_name = living.living_name
                AND earlier.earlier_kind = living.living_kind AND earlier.earlier_user_id = living.living_user_id
   WHERE earlier.earlier_ns > living.living_ns
)
SELECT placed_host_id AS host_id, placed_id AS run_id, max(placed_name) AS run, max(placed_user_id) AS user_id,
       max(placed_unix_ns) + max(CASE WHEN 10 * place < placed_count + 10 THEN placed_ns END) AS earliest_unix_ns,
       max(placed_unix_ns) + max(CASE WHEN 10 * place < 9 * placed_count + 10 THEN placed_ns END) AS latest_unix_ns,
       max(placed_count) AS earlier_count
  FROM placed
 GROUP BY placed_host_id, placed_id
HAVING max(placed_count) >= :least_count
 ORDER BY earliest_unix_ns, placed_id;
