-- The model of one host, written by tracer-correlator.
--
-- Each column visible to readers has a comment "unit; meaning; source", from which
-- docs/model.md is generated (docs/generate-model). NULL means unknown, never zero. Ids
-- are 63-bit hashes of what identifies the row (common/identity.h). `rev` increases with
-- each write of any row: the shipper sends the rows above its cursor.
-- Boot times are CLOCK_BOOTTIME of the row's boot; unix times are the wall clock
-- at that moment, and must not be subtracted from one another.

-- The machine on which everything else ran. One row.
CREATE TABLE hosts (
  id                INTEGER NOT NULL PRIMARY KEY, -- id; hash of the host key; derived
  rev               INTEGER NOT NULL, -- count; revision of this row; correlator
  host_key          TEXT NOT NULL, -- text; hash of the machine id, or of the hostname if there is no machine id; /etc/machine-id
  hostname          TEXT NOT NULL, -- text; node name; uname.nodename
  boot_id           TEXT NOT NULL, -- text; id of the latest boot seen; /proc/sys/kernel/random/boot_id
  boot_unix_ns      INTEGER NOT NULL, -- ns; wall clock when the boot clock was 0; CLOCK_REALTIME - CLOCK_BOOTTIME
  kernel            TEXT NOT NULL, -- text; kernel release; uname.release
  machine           TEXT NOT NULL, -- text; hardware name; uname.machine
  cpu_count         INTEGER NOT NULL, -- count; processors online; sysconf(_SC_NPROCESSORS_ONLN)
  memory_bytes      INTEGER NOT NULL, -- bytes; main memory; sysinfo.totalram
  probe_version     TEXT NOT NULL, -- text; release of tracer-probe; build
  first_seen_unix_ns INTEGER NOT NULL, -- ns; first connection of a probe; CLOCK_REALTIME
  last_seen_unix_ns INTEGER NOT NULL -- ns; latest process scan; CLOCK_REALTIME
) STRICT;

-- A container in which processes ran, identified by its cgroup path.
CREATE TABLE containers (
  id                INTEGER NOT NULL PRIMARY KEY, -- id; hash of host, boot, runtime and runtime id; derived
  rev               INTEGER NOT NULL, -- count; revision of this row; correlator
  host_id           INTEGER NOT NULL, -- id; hosts.id; derived
  runtime           TEXT NOT NULL, -- text; docker, podman, containerd, kubernetes, runc, lxc, nspawn; cgroup path
  runtime_id        TEXT NOT NULL, -- text; the runtime's own id of the container; cgroup path
  cgroup_path       TEXT NOT NULL, -- text; its cgroup; cgroup.kn up to the root
  run_id            INTEGER, -- id; runs.id of the run that started it; derived
  task_id           INTEGER, -- id; tasks.id of the task that started it; derived
  begin_boot_ns     INTEGER NOT NULL, -- ns, boot clock; its first process was seen; event
  end_boot_ns       INTEGER, -- ns, boot clock; its last process ended; event
  started_unix_ns   INTEGER NOT NULL -- ns; wall clock at begin_boot_ns; CLOCK_REALTIME
) STRICT;

-- One execution of a pipeline, command, service or job.
CREATE TABLE runs (
  id                INTEGER NOT NULL PRIMARY KEY, -- id; hash of host, boot and root process or job key; derived
  rev               INTEGER NOT NULL, -- count; revision of this row; correlator
  host_id           INTEGER NOT NULL, -- id; hosts.id; derived
  container_id      INTEGER, -- id; containers.id of its root process; derived
  kind              TEXT NOT NULL, -- text; command, job, service, batch, cron, container, found, system; model
  name              TEXT NOT NULL, -- text; its driver: script, engine and input, unit; rule or generic
  engine            TEXT, -- text; the workflow engine or builder that drives it; rule
  run_key           TEXT, -- text; key shared with its parts on other hosts: job id, work directory; rule
  root_process_id   INTEGER, -- id; processes.id of its root process; derived
  origin_process_id INTEGER, -- id; processes.id of the origin below which it began; derived
  user_id           INTEGER, -- uid; real user of its root process; cred.uid
  working_directory TEXT, -- text; of its root process; fs.pwd
  status            TEXT NOT NULL, -- text; running, succeeded, failed, killed, ended (result unknown); model
  exit_code         INTEGER, -- code; of its root process; wait status
  signal            INTEGER, -- signal; signal that ended its root process; wait status
  rules_version     INTEGER NOT NULL, -- hash; hash of the rules in force when it began; correlator
  reason            TEXT NOT NULL, -- text; generic step that determined its boundary; model
  begin_boot_ns     INTEGER NOT NULL, -- ns, boot clock; first process; event
  end_boot_ns       INTEGER, -- ns, boot clock; last process ended; event
  root_end_boot_ns  INTEGER, -- ns, boot clock; root process ended; event
  started_unix_ns   INTEGER NOT NULL, -- ns; wall clock at begin_boot_ns; CLOCK_REALTIME
  task_count        INTEGER NOT NULL, -- count; tasks, without the run's own pseudo-task; model
  process_count     INTEGER NOT NULL, -- count; exec images; model
  living_count      INTEGER NOT NULL, -- count; exec images that have not ended; model
  failed_count      INTEGER NOT NULL, -- count; processes with failed = 1; processes
  lost_count        INTEGER NOT NULL, -- count; records known to be lost while it ran, above 0: it is incomplete; ring
  cpu_ns            INTEGER NOT NULL, -- ns; on-CPU time of its processes; see processes
  user_ns           INTEGER NOT NULL, -- ns; part of cpu_ns in user mode; see processes
  system_ns         INTEGER NOT NULL, -- ns; part of cpu_ns in kernel mode; see processes
  run_delay_ns      INTEGER NOT NULL, -- ns; runnable, waiting for a processor; see processes
  block_io_delay_ns INTEGER, -- ns; waiting for block I/O; see processes
  voluntary_switches INTEGER NOT NULL, -- count; context switches; see processes
  involuntary_switches INTEGER NOT NULL, -- count; preemptions; see processes
  minor_faults      INTEGER NOT NULL, -- count; page faults without I/O; see processes
  major_faults      INTEGER NOT NULL, -- count; page faults with I/O; see processes
  read_bytes        INTEGER NOT NULL, -- bytes; from storage; see processes
  write_bytes       INTEGER NOT NULL, -- bytes; to storage; see processes
  cancelled_write_bytes INTEGER NOT NULL, -- bytes; dirtied, then truncated; see processes
  rchar_bytes       INTEGER NOT NULL, -- bytes; through read-like calls; see processes
  wchar_bytes       INTEGER NOT NULL, -- bytes; through write-like calls; see processes
  syscr_count       INTEGER NOT NULL, -- count; read-like calls; see processes
  syscw_count       INTEGER NOT NULL, -- count; write-like calls; see processes
  peak_rss_bytes    INTEGER, -- bytes; largest peak of one process; see processes
  concurrent_memory_bytes INTEGER -- bytes; largest sum of anonymous and shmem memory at one scan; samples
) STRICT;

-- A step of a run: a subtree of processes below its orchestrator. One row per run has
-- kind 'main': the pseudo-task for the driver and the set-up.
CREATE TABLE tasks (
  id                INTEGER NOT NULL UNIQUE, -- id; hash of run and root process or step key; derived
  rev               INTEGER NOT NULL, -- count; revision of this row; correlator
  host_id           INTEGER NOT NULL, -- id; hosts.id; derived
  run_id            INTEGER NOT NULL, -- id; runs.id; derived
  parent_task_id    INTEGER, -- id; tasks.id of the task of its orchestrator; derived
  container_id      INTEGER, -- id; containers.id of its root process; derived
  merged_into_id    INTEGER, -- id; tasks.id of the task that it turned out to be part of, NULL: not merged; model
  kind              TEXT NOT NULL, -- text; main, engine, generic, batch; model
  name              TEXT NOT NULL, -- text; its tools in order, or the name given by a rule; model
  root_process_id   INTEGER, -- id; processes.id of its root process; derived
  orchestrator_process_id INTEGER, -- id; processes.id of the process of which it is a direct subtree; derived
  working_directory TEXT, -- text; of its root process; fs.pwd
  status            TEXT NOT NULL, -- text; running, succeeded, failed, killed, ended (result unknown); model
  exit_code         INTEGER, -- code; of its root process; wait status
  signal            INTEGER, -- signal; signal that ended its root process; wait status
  reason            TEXT NOT NULL, -- text; generic step that determined its boundary; model
  begin_boot_ns     INTEGER NOT NULL, -- ns, boot clock; first process; event
  end_boot_ns       INTEGER, -- ns, boot clock; last process ended; event
  started_unix_ns   INTEGER NOT NULL, -- ns; wall clock at begin_boot_ns; CLOCK_REALTIME
  process_count     INTEGER NOT NULL, -- count; exec images; model
  living_count      INTEGER NOT NULL, -- count; exec images that have not ended; model
  failed_count      INTEGER NOT NULL, -- count; processes with failed = 1; processes
  lost_count        INTEGER NOT NULL, -- count; records known to be lost while it ran, above 0: it is incomplete; ring
  cpu_ns            INTEGER NOT NULL, -- ns; on-CPU time of its processes; see processes
  user_ns           INTEGER NOT NULL, -- ns; part of cpu_ns in user mode; see processes
  system_ns         INTEGER NOT NULL, -- ns; part of cpu_ns in kernel mode; see processes
  run_delay_ns      INTEGER NOT NULL, -- ns; runnable, waiting for a processor; see processes
  block_io_delay_ns INTEGER, -- ns; waiting for block I/O; see processes
  voluntary_switches INTEGER NOT NULL, -- count; context switches; see processes
  involuntary_switches INTEGER NOT NULL, -- count; preemptions; see processes
  minor_faults      INTEGER NOT NULL, -- count; page faults without I/O; see processes
  major_faults      INTEGER NOT NULL, -- count; page faults with I/O; see processes
  read_bytes        INTEGER NOT NULL, -- bytes; from storage; see processes
  write_bytes       INTEGER NOT NULL, -- bytes; to storage; see processes
  cancelled_write_bytes INTEGER NOT NULL, -- bytes; dirtied, then truncated; see processes
  rchar_bytes       INTEGER NOT NULL, -- bytes; through read-like calls; see processes
  wchar_bytes       INTEGER NOT NULL, -- bytes; through write-like calls; see processes
  syscr_count       INTEGER NOT NULL, -- count; read-like calls; see processes
  syscw_count       INTEGER NOT NULL, -- count; write-like calls; see processes
  peak_rss_bytes    INTEGER, -- bytes; largest peak of one process; see processes
  concurrent_memory_bytes INTEGER -- bytes; largest sum of anonymous and shmem memory at one scan; samples
) STRICT;

-- A program as used by one task: all its processes in that task. A row without
-- processes is left from a merged task and is not shown.
CREATE TABLE tools (
  id                INTEGER NOT NULL UNIQUE, -- id; hash of task and name; derived
  rev               INTEGER NOT NULL, -- count; revision of this row; correlator
  host_id           INTEGER NOT NULL, -- id; hosts.id; derived
  run_id            INTEGER NOT NULL, -- id; runs.id; derived
  task_id           INTEGER NOT NULL, -- id; tasks.id; derived
  name              TEXT NOT NULL, -- text; program and subcommand, interpreters unwrapped; rule or generic
  role              TEXT NOT NULL, -- text; tool, shell, wrapper, helper, orchestrator, ...; rule or generic
  begin_boot_ns     INTEGER NOT NULL, -- ns, boot clock; first process; event
  end_boot_ns       INTEGER, -- ns, boot clock; last process ended; event
  started_unix_ns   INTEGER NOT NULL, -- ns; wall clock at begin_boot_ns; CLOCK_REALTIME
  process_count     INTEGER NOT NULL, -- count; exec images; model
  living_count      INTEGER NOT NULL, -- count; exec images that have not ended; model
  failed_count      INTEGER NOT NULL, -- count; processes with failed = 1; processes
  cpu_ns            INTEGER NOT NULL, -- ns; on-CPU time of its processes; see processes
  user_ns           INTEGER NOT NULL, -- ns; part of cpu_ns in user mode; see processes
  system_ns         INTEGER NOT NULL, -- ns; part of cpu_ns in kernel mode; see processes
  run_delay_ns      INTEGER NOT NULL, -- ns; runnable, waiting for a processor; see processes
  block_io_delay_ns INTEGER, -- ns; waiting for block I/O; see processes
  voluntary_switches INTEGER NOT NULL, -- count; context switches; see processes
  involuntary_switches INTEGER NOT NULL, -- count; preemptions; see processes
  minor_faults      INTEGER NOT NULL, -- count; page faults without I/O; see processes
  major_faults      INTEGER NOT NULL, -- count; page faults with I/O; see processes
  read_bytes        INTEGER NOT NULL, -- bytes; from storage; see processes
  write_bytes       INTEGER NOT NULL, -- bytes; to storage; see processes
  cancelled_write_bytes INTEGER NOT NULL, -- bytes; dirtied, then truncated; see processes
  rchar_bytes       INTEGER NOT NULL, -- bytes; through read-like calls; see processes
  wchar_bytes       INTEGER NOT NULL, -- bytes; through write-like calls; see processes
  syscr_count       INTEGER NOT NULL, -- count; read-like calls; see processes
  syscw_count       INTEGER NOT NULL, -- count; write-like calls; see processes
  peak_rss_bytes    INTEGER, -- bytes; largest peak of one process; see processes
  concurrent_memory_bytes INTEGER -- bytes; largest sum of anonymous and shmem memory at one scan; samples
) STRICT;

CREATE INDEX runs_by_begin ON runs (started_unix_ns);
CREATE INDEX tasks_by_run ON tasks (run_id);
CREATE INDEX tools_by_task ON tools (task_id);

-- What processes executed and how they were classified: a few hundred distinct rows,
-- stored once and shared by all processes. Read them through the view processes.
CREATE TABLE images (
  id                INTEGER NOT NULL PRIMARY KEY, -- order of appearance
  role              TEXT NOT NULL, -- see processes
  rule              TEXT, -- see processes
  reason            TEXT NOT NULL, -- see processes
  program           TEXT NOT NULL, -- see processes
  path              TEXT -- see processes
) STRICT;
CREATE INDEX images_by_text ON images (path, program, reason, rule, role);

-- Storage of processes, in order of appearance rather than of ids, because only ids of the
-- same boot are ordered by time. Host, run and task are found through the tool, the
-- classification through the image. Read it through the view processes (views.sql).
CREATE TABLE process_rows (
  id                INTEGER NOT NULL UNIQUE, -- see processes, as for all columns below
  rev               INTEGER NOT NULL,
  image_id          INTEGER NOT NULL, -- images.id
  container_id      INTEGER,
  tool_id           INTEGER NOT NULL,
  parent_id         INTEGER,
  pid               INTEGER NOT NULL,
  exec_id           INTEGER NOT NULL,
  user_id           INTEGER,
  began             TEXT NOT NULL,
  ended             TEXT,
  totals            TEXT NOT NULL,
  begin_boot_ns     INTEGER NOT NULL,
  end_boot_ns       INTEGER,
  started_unix_ns   INTEGER NOT NULL,
  exit_code         INTEGER,
  signal            INTEGER,
  core_dumped       INTEGER,
  oom_killed        INTEGER,
  arguments         BLOB,
  redacted_count    INTEGER NOT NULL,
  arguments_truncated INTEGER NOT NULL,
  working_directory TEXT,
  spawn_cpu_ns      INTEGER,
  cpu_ns            INTEGER,
  user_ns           INTEGER,
  system_ns         INTEGER,
  run_delay_ns      INTEGER,
  block_io_delay_ns INTEGER,
  voluntary_switches INTEGER,
  involuntary_switches INTEGER,
  minor_faults      INTEGER,
  major_faults      INTEGER,
  read_bytes        INTEGER,
  write_bytes       INTEGER,
  cancelled_write_bytes INTEGER,
  rchar_bytes       INTEGER,
  wchar_bytes       INTEGER,
  syscr_count       INTEGER,
  syscw_count       INTEGER,
  peak_rss_bytes    INTEGER
) STRICT;
CREATE INDEX process_rows_by_tool ON process_rows (tool_id, image_id);
CREATE INDEX process_rows_living ON process_rows (id) WHERE end_boot_ns IS NULL;

-- Resource use of running processes over time: one row for each scan in which the process
-- had used CPU or its memory had changed.
CREATE TABLE samples (
  process_id        INTEGER NOT NULL, -- id; processes.id; derived
  boot_ns           INTEGER NOT NULL, -- ns, boot clock; time of the scan; iterator
  rev               INTEGER NOT NULL, -- count; revision of this row; correlator
  cpu_ns            INTEGER, -- ns; on-CPU time of this image so far; sum_exec_runtime
  run_delay_ns      INTEGER, -- ns; run-queue delay of this image so far; sched_info.run_delay
  read_bytes        INTEGER, -- bytes; from storage so far; ioac.read_bytes
  write_bytes       INTEGER, -- bytes; to storage so far; ioac.write_bytes
  rss_anon_bytes    INTEGER, -- bytes; anonymous memory now; mm.rss_stat
  rss_file_bytes    INTEGER, -- bytes; file pages now; mm.rss_stat
  rss_shmem_bytes   INTEGER, -- bytes; shared memory now; mm.rss_stat
  swap_bytes        INTEGER, -- bytes; swapped out now; mm.rss_stat
  thread_count      INTEGER, -- count; threads now; signal.nr_threads
  PRIMARY KEY (process_id, boot_ns)
) STRICT, WITHOUT ROWID;

-- Something that went wrong, described in one factual sentence.
CREATE TABLE incidents (
  id                INTEGER NOT NULL PRIMARY KEY, -- id; hash of its process or task and kind; derived
  rev               INTEGER NOT NULL, -- count; revision of this row; correlator
  host_id           INTEGER NOT NULL, -- id; hosts.id; derived
  run_id            INTEGER, -- id; runs.id; model
  task_id           INTEGER, -- id; tasks.id; model
  process_id        INTEGER, -- id; processes.id; model
  kind              TEXT NOT NULL, -- text; exit-code, signal, interrupted, crash, oom-kill, gpu-error, failed-command, stuck, idle, zombies, clock; model
  boot_ns           INTEGER NOT NULL, -- ns, boot clock; time of the event; event
  unix_ns           INTEGER NOT NULL, -- ns; wall clock at boot_ns; CLOCK_REALTIME
  sentence          TEXT NOT NULL -- text; what happened, in one sentence; model
) STRICT;
CREATE INDEX incidents_by_run ON incidents (run_id);

-- Records that the kernel side dropped: their number and kind are known, not their content.
CREATE TABLE losses (
  id                INTEGER NOT NULL PRIMARY KEY, -- id; hash of host, boot, kind, cgroup and first time; derived
  rev               INTEGER NOT NULL, -- count; revision of this row; correlator
  host_id           INTEGER NOT NULL, -- id; hosts.id; derived
  kind              TEXT NOT NULL, -- text; fork, exec, exit, final, cgroup, ignored, unknown; ring
  cgroup_path       TEXT, -- text; cgroup in which they were lost, NULL: unknown; cgroup
  lost_count        INTEGER NOT NULL, -- count; number of records; ring
  first_boot_ns     INTEGER NOT NULL, -- ns, boot clock; time of the first record; ring
  last_boot_ns      INTEGER NOT NULL, -- ns, boot clock; time of the last record; ring
  unix_ns           INTEGER NOT NULL -- ns; wall clock at first_boot_ns; CLOCK_REALTIME
) STRICT;

-- Paths of the cgroup ids of this boot, so that they are known after a restart.
CREATE TABLE cgroups (
  id                INTEGER NOT NULL PRIMARY KEY, -- id; hash of host, boot and cgroup id; derived
  rev               INTEGER NOT NULL, -- count; revision of this row; correlator
  cgroup_id         INTEGER NOT NULL, -- id; kernfs id, hierarchy id in the top byte; cgroup.kn.id
  path              TEXT NOT NULL -- text; path in its hierarchy; cgroup.kn up to the root
) STRICT;

-- Position in the event stream, committed in one transaction with the events. One row.
CREATE TABLE stream (
  id                INTEGER NOT NULL PRIMARY KEY CHECK (id = 1), -- count; always 1; schema
  boot_id           TEXT NOT NULL, -- text; boot that the ring belongs to; hello
  ring_epoch        INTEGER NOT NULL, -- count; ring that the offset belongs to; hello
  ring_offset       INTEGER NOT NULL, -- bytes; everything before it is in this store; ring
  rev               INTEGER NOT NULL, -- count; highest revision assigned; correlator
  committed_boot_ns INTEGER NOT NULL, -- ns, boot clock; latest event committed; event
  committed_unix_ns INTEGER NOT NULL -- ns; wall clock of the last commit; CLOCK_REALTIME
) STRICT;

-- State of running processes that their rows do not hold, needed to continue after a
-- restart. Private to the correlator: no other reader, not shipped.
CREATE TABLE checkpoints (
  process_id        INTEGER NOT NULL PRIMARY KEY, -- id; processes.id; derived
  state             BLOB NOT NULL -- msgpack; correlator/checkpoint_fields.h; correlator
) STRICT;
