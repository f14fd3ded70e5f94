-- The ended runs of a name, or one run, the latest first; for a run that several hosts share its parts on all of them.
-- :name the complete name, or NULL; :run_id the run, or NULL; :host, :user_id only those on this host, of this user; NULL: any.
-- whole_id is the id of the part that represents the run, its own for a run of one host.
WITH named AS (
  SELECT id AS named_id, run_key AS named_key FROM standing_runs
   WHERE (name = :name OR id = :run_id)
     AND (:host IS NULL OR host = :host) AND (:user_id IS NULL OR user_id = :user_id)
), part AS (
  SELECT id AS part_id, joined_id AS part_whole_id FROM joined_runs
   WHERE run_key IN (SELECT named_key FROM named WHERE named_key IS NOT NULL)
), whole AS (
  SELECT DISTINCT named.named_id AS only_id, part.part_whole_id AS found_whole_id
    FROM named LEFT JOIN part ON part.part_id = named.named_id
), wanted AS (
  SELECT DISTINCT part.part_id AS wanted_id, part.part_whole_id AS wanted_whole_id
    FROM part JOIN whole ON whole.found_whole_id = part.part_whole_id
   UNION ALL
  SELECT only_id AS wanted_id, only_id AS wanted_whole_id FROM whole
   WHERE found_whole_id IS NULL
)
SELECT wanted.wanted_whole_id AS whole_id, standing_runs.id AS id,
       standing_runs.host_id AS host_id, standing_runs.name AS name, standing_runs.status AS status,
       standing_runs.started_unix_ns AS started_unix_ns,
       standing_runs.started_unix_ns + standing_runs.wall_ns AS end_unix_ns, standing_runs.cpu_ns AS cpu_ns,
       standing_runs.peak_rss_bytes AS peak_rss_bytes, standing_runs.read_bytes AS read_bytes,
       standing_runs.rchar_bytes AS rchar_bytes, standing_runs.gpu_busy_ns AS gpu_busy_ns
  FROM wanted JOIN standing_runs ON standing_runs.id = wanted.wanted_id
 WHERE standing_runs.id IN (SELECT wanted_id FROM wanted) AND standing_runs.end_boot_ns IS NOT NULL
 ORDER BY started_unix_ns DESC, id;
