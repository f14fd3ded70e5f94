-- Why a run is a run: what set its boundary, and its origin.
-- :run_id the run; :host_id its host.
WITH involved AS (
  SELECT id, pid, program, role, rule, reason FROM processes
   WHERE host_id = :host_id
     AND (id IN (SELECT root_process_id FROM runs WHERE host_id = :host_id AND id = :run_id)
          OR id IN (SELECT origin_process_id FROM runs
                     WHERE host_id = :host_id AND id = :run_id))
)
SELECT r.id AS id, r.kind AS kind, r.name AS name, r.engine AS engine, r.run_key AS run_key,
       r.reason AS reason, r.status AS status, r.rules_version AS rules_version,
       r.user_id AS user_id, r.working_directory AS working_directory,
       r.root_process_id AS root_process_id, root.pid AS root_pid, root.program AS root_program,
       root.role AS root_role, root.rule AS root_rule, root.reason AS root_reason,
       r.origin_process_id AS origin_process_id, origin.pid AS origin_pid,
       origin.program AS origin_program, origin.role AS origin_role, origin.rule AS origin_rule,
       r.container_id AS container_id, container.runtime AS container_runtime,
       container.runtime_id AS container_runtime_id
  FROM runs r
  LEFT JOIN involved root ON root.id = r.root_process_id
  LEFT JOIN involved origin ON origin.id = r.origin_process_id
  LEFT JOIN containers container ON container.host_id = :host_id AND container.id = r.container_id
 WHERE r.host_id = :host_id AND r.id = :run_id;
