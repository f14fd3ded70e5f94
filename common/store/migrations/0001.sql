-- The model of one host, as tracer-correlator writes it and everybody reads it.
--
-- Every column that a reader sees ends in a comment "unit; meaning; source", from which
-- docs/model.md is generated (docs/generate-model). NULL is unknown, never zero. Ids
-- are 63-bit hashes of what identifies the row (common/identity.h). `rev` grows with
-- every write of any row: the shipper sends what is above its cursor.
-- Boot times are CLOCK_BOOTTIME of the row's boot; unix times are the wall clock
-- as it stood then, and are never subtracted from one another.

-- The machine that runs everything below. One row.
CREATE TABLE hosts (
  id                INTEGER NOT NULL PRIMARY KEY, -- id; hash of the host key; derived
  rev               INTEGER NOT NULL, -- count; revision of this row; correlator
  host_key          TEXT NOT NULL, -- text; hash of the machine id, or of the hostname where there is none; /etc/machine-id
  hostname          TEXT NOT NULL, -- text; node name; uname.nodename
  boot_id           TEXT NOT NULL, -- text; id of the latest boot seen; /proc/sys/kernel/random/boot_id
  boot_unix_ns      INTEGER NOT NULL, -- ns; wall clock at boot clock zero; CLOCK_REALTIME - CLOCK_BOOTTIME
  kernel            TEXT NOT NULL, -- text; kernel release; uname.release
  machine           TEXT NOT NULL, -- text; hardware name; uname.machine
  cpu_count         INTEGER NOT NULL, -- count; processors online; sysconf(_SC_NPROCESSORS_ONLN)
  memory_bytes      INTEGER NOT NULL, -- bytes; main memory; sysinfo.totalram
  probe_version     TEXT NOT NULL, -- text; release of tracer-probe; build
  first_seen_unix_ns INTEGER NOT NULL, -- ns; first connection of a probe; CLOCK_REALTIME
  last_seen_unix_ns INTEGER NOT NULL -- ns; latest pass over the living; CLOCK_REALTIME
) STRICT;

-- A container that processes ran in, known by its cgroup path.
CREATE TABLE containers (
  id                INTEGER NOT NULL PRIMARY KEY, -- id; hash of host, boot, runtime and runtime id; derived
  rev               INTEGER NOT NULL, -- count; revision of this row; correlator
  host_id           INTEGER NOT NULL, -- id; hosts.id; derived
  runtime           TEXT NOT NULL, -- text; docker, podman, containerd, kubernetes, runc, lxc, nspawn; cgroup path
  runtime_id        TEXT NOT NULL, -- text; the runtime's own id of it; cgroup path
  cgroup_path       TEXT NOT NULL, -- text; its cgroup; cgroup.kn walked to the root
  run_id            INTEGER, -- id; runs.id that started it; derived
  task_id           INTEGER, -- id; tasks.id that started it; derived
  begin_boot_ns     INTEGER NOT NULL, -- ns, boot clock; its first process seen; event
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
  name              TEXT NOT NULL, -- text; what drives it: script, engine and input, unit; rule or generic
  engine            TEXT, -- text; the workflow engine or builder that drives it; rule
  run_key           TEXT, -- text; key shared by its parts on other hosts: job id, work directory; rule
  root_process_id   INTEGER, -- id; processes.id it began with; derived
  origin_process_id INTEGER, -- id; processes.id of the origin it began beneath; derived
  user_id           INTEGER, -- uid; real user of its root process; cred.uid
  working_directory TEXT, -- text; of its root process; fs.pwd
  status            TEXT NOT NULL, -- text; running, succeeded, failed, killed, ended (result unknown); model
  exit_code         INTEGER, -- code; of its root process; wait status
  signal            INTEGER, -- signal; that ended its root process; wait status
  rules_version     INTEGER NOT NULL, -- hash; of the rules in force when it began; correlator
  reason            TEXT NOT NULL, -- text; generic step that drew its boundary; model
  begin_boot_ns     INTEGER NOT NULL, -- ns, boot clock; first process; event
  end_boot_ns       INTEGER, -- ns, boot clock; last process ended; event
  root_end_boot_ns  INTEGER, -- ns, boot clock; root process ended; event
  started_unix_ns   INTEGER NOT NULL, -- ns; wall clock at begin_boot_ns; CLOCK_REALTIME
  task_count        INTEGER NOT NULL, -- count; tasks, the run's own pseudo-task left out; model
  process_count     INTEGER NOT NULL, -- count; exec images; model
  living_count      INTEGER NOT NULL, -- count; exec images that have not ended; model
  failed_count      INTEGER NOT NULL, -- count; processes that ended by signal or a code other than 0; wait status
  lost_count        INTEGER NOT NULL, -- count; records known to be lost while it ran: above 0 it is incomplete; ring
  cpu_ns            INTEGER NOT NULL, -- ns; on-CPU time of its processes; see processes
  user_ns           INTEGER NOT NULL, -- ns; of cpu_ns, in user mode; see processes
  system_ns         INTEGER NOT NULL, -- ns; of cpu_ns, in the kernel; see processes
  run_delay_ns      INTEGER NOT NULL, -- ns; runnable, waiting for a processor; see processes
  block_io_delay_ns INTEGER, -- ns; waiting for block I/O; see processes
  voluntary_switches INTEGER NOT NULL, -- count; context switches; see processes
  involuntary_switches INTEGER NOT NULL, -- count; preemptions; see processes
  minor_faults      INTEGER NOT NULL, -- count; page faults without I/O; see processes
  major_faults      INTEGER NOT NULL, -- count; page faults with I/O; see processes
  read_bytes        INTEGER NOT NULL, -- bytes; from storage; see processes
  write_bytes       INTEGER NOT NULL, -- bytes; to storage; see processes
  cancelled_write_bytes INTEGER NOT NULL, -- bytes; dirtied then truncated; see processes
  rchar_bytes       INTEGER NOT NULL, -- bytes; through read-like calls; see processes
  wchar_bytes       INTEGER NOT NULL, -- bytes; through write-like calls; see processes
  syscr_count       INTEGER NOT NULL, -- count; read-like calls; see processes
  syscw_count       INTEGER NOT NULL, -- count; write-like calls; see processes
  peak_rss_bytes    INTEGER, -- bytes; largest peak of one process; see processes
  concurrent_memory_bytes INTEGER -- bytes; largest sum of anonymous and shmem memory at one pass; samples
) STRICT;

-- A step of a run: a subtree beneath its orchestrator. One row per run has kind
-- 'main': the pseudo-task that holds the drivers and the set-up.
CREATE TABLE tasks (
  id                INTEGER NOT NULL UNIQUE, -- id; hash of run and root process or step key; derived
  rev               INTEGER NOT NULL, -- count; revision of this row; correlator
  host_id           INTEGER NOT NULL, -- id; hosts.id; derived
  run_id            INTEGER NOT NULL, -- id; runs.id; derived
  parent_task_id    INTEGER, -- id; tasks.id its orchestrator belongs to; derived
  container_id      INTEGER, -- id; containers.id of its root process; derived
  merged_into_id    INTEGER, -- id; tasks.id it turned out to be part of, NULL: it stands; model
  kind              TEXT NOT NULL, -- text; main, engine, generic, batch; model
  name              TEXT NOT NULL, -- text; its tools in order, or what a rule names it; model
  root_process_id   INTEGER, -- id; processes.id it began with; derived
  orchestrator_process_id INTEGER, -- id; processes.id it is a direct subtree of; derived
  working_directory TEXT, -- text; of its root process; fs.pwd
  status            TEXT NOT NULL, -- text; running, succeeded, failed, killed, ended (result unknown); model
  exit_code         INTEGER, -- code; of its root process; wait status
  signal            INTEGER, -- signal; that ended its root process; wait status
  reason            TEXT NOT NULL, -- text; generic step that drew its boundary; model
  begin_boot_ns     INTEGER NOT NULL, -- ns, boot clock; first process; event
  end_boot_ns       INTEGER, -- ns, boot clock; last process ended; event
  started_unix_ns   INTEGER NOT NULL, -- ns; wall clock at begin_boot_ns; CLOCK_REALTIME
  process_count     INTEGER NOT NULL, -- count; exec images; model
  living_count      INTEGER NOT NULL, -- count; exec images that have not ended; model
  failed_count      INTEGER NOT NULL, -- count; processes that ended by signal or a code other than 0; wait status
  lost_count        INTEGER NOT NULL, -- count; records known to be lost while it ran: above 0 it is incomplete; ring
  cpu_ns            INTEGER NOT NULL, -- ns; on-CPU time of its processes; see processes
  user_ns           INTEGER NOT NULL, -- ns; of cpu_ns, in user mode; see processes
  system_ns         INTEGER NOT NULL, -- ns; of cpu_ns, in the kernel; see processes
  run_delay_ns      INTEGER NOT NULL, -- ns; runnable, waiting for a processor; see processes
  block_io_delay_ns INTEGER, -- ns; waiting for block I/O; see processes
  voluntary_switches INTEGER NOT NULL, -- count; context switches; see processes
  involuntary_switches INTEGER NOT NULL, -- count; preemptions; see processes
  minor_faults      INTEGER NOT NULL, -- count; page faults without I/O; see processes
  major_faults      INTEGER NOT NULL, -- count; page faults with I/O; see processes
  read_bytes        INTEGER NOT NULL, -- bytes; from storage; see processes
  write_bytes       INTEGER NOT NULL, -- bytes; to storage; see processes
  cancelled_write_bytes INTEGER NOT NULL, -- bytes; dirtied then truncated; see processes
  rchar_bytes       INTEGER NOT NULL, -- bytes; through read-like calls; see processes
  wchar_bytes       INTEGER NOT NULL, -- bytes; through write-like calls; see processes
  syscr_count       INTEGER NOT NULL, -- count; read-like calls; see processes
  syscw_count       INTEGER NOT NULL, -- count; write-like calls; see processes
  peak_rss_bytes    INTEGER, -- bytes; largest peak of one process; see processes
  concurrent_memory_bytes INTEGER -- bytes; largest sum of anonymous and shmem memory at one pass; samples
) STRICT;

-- A program as one task used it: all its processes there. Without processes the
-- row is a leftover of a merged task and is not shown.
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
  failed_count      INTEGER NOT NULL, -- count; processes that ended by signal or a code other than 0; wait status
  cpu_ns            INTEGER NOT NULL, -- ns; on-CPU time of its processes; see processes
  user_ns           INTEGER NOT NULL, -- ns; of cpu_ns, in user mode; see processes
  system_ns         INTEGER NOT NULL, -- ns; of cpu_ns, in the kernel; see processes
  run_delay_ns      INTEGER NOT NULL, -- ns; runnable, waiting for a processor; see processes
  block_io_delay_ns INTEGER, -- ns; waiting for block I/O; see processes
  voluntary_switches INTEGER NOT NULL, -- count; context switches; see processes
  involuntary_switches INTEGER NOT NULL, -- count; preemptions; see processes
  minor_faults      INTEGER NOT NULL, -- count; page faults without I/O; see processes
  major_faults      INTEGER NOT NULL, -- count; page faults with I/O; see processes
  read_bytes        INTEGER NOT NULL, -- bytes; from storage; see processes
  write_bytes       INTEGER NOT NULL, -- bytes; to storage; see processes
  cancelled_write_bytes INTEGER NOT NULL, -- bytes; dirtied then truncated; see processes
  rchar_bytes       INTEGER NOT NULL, -- bytes; through read-like calls; see processes
  wchar_bytes       INTEGER NOT NULL, -- bytes; through write-like calls; see processes
  syscr_count       INTEGER NOT NULL, -- count; read-like calls; see processes
  syscw_count       INTEGER NOT NULL, -- count; write-like calls; see processes
  peak_rss_bytes    INTEGER, -- bytes; largest peak of one process; see processes
  concurrent_memory_bytes INTEGER -- bytes; largest sum of anonymous and shmem memory at one pass; samples
) STRICT;

CREATE INDEX runs_by_begin ON runs (started_unix_ns);
CREATE INDEX tasks_by_run ON tasks (run_id);
CREATE INDEX tools_by_task ON tools (task_id);

-- What a process executed and how it was classified: the same few hundred texts for
-- all processes, so kept once. Read it through the view processes.
CREATE TABLE images (
  id                INTEGER NOT NULL PRIMARY KEY, -- order of appearance
  role              TEXT NOT NULL, -- see processes
  rule              TEXT, -- see processes
  reason            TEXT NOT NULL, -- see processes
  program           TEXT NOT NULL, -- see processes
  path              TEXT -- see processes
) STRICT;
CREATE INDEX images_by_text ON images (path, program, reason, rule, role);

-- How processes are kept: in order of appearance rather than of their random ids, whose
-- inserts would each write a page of their own; host, run and task through the tool;
-- the classification through its image. Written through the view processes.
CREATE TABLE process_rows (
  id                INTEGER NOT NULL UNIQUE, -- see processes, as for all that follow
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

-- One exec image of one process: a shell that execs a tool is two rows. A child
-- that execs at once has one row; what it used before its exec is in its figures.
CREATE VIEW processes AS SELECT
  p.id,                    -- id; hash of host, boot, pid, start time and exec count; derived
  p.rev,                   -- count; revision of this row; correlator
  t.host_id,               -- id; hosts.id; derived
  p.container_id,          -- id; containers.id; cgroup
  t.run_id,                -- id; runs.id; model
  t.task_id,               -- id; tasks.id; model
  p.tool_id,               -- id; tools.id; model
  p.parent_id,             -- id; processes.id of the image that forked it, or the image it was before exec; real_parent at fork
  p.pid,                   -- pid; thread group id, initial namespace; task.tgid
  p.exec_id,               -- count; execs of this process and its ancestors; task.self_exec_id
  p.user_id,               -- uid; real user; cred.uid
  p.began,                 -- text; fork, exec, found (alive before the probe); event
  p.ended,                 -- text; exit, exec (a new image followed), lost (gone without a record); event
  p.totals,                -- text; how final the counters are: sample, exec, exit, final; event
  p.begin_boot_ns,         -- ns, boot clock; this image began: fork or exec, start_boottime if found; event
  p.end_boot_ns,           -- ns, boot clock; this image ended; event
  p.started_unix_ns,       -- ns; wall clock at begin_boot_ns; CLOCK_REALTIME
  p.exit_code,             -- code; of the thread group, NULL if killed or living; signal.group_exit_code
  p.signal,                -- signal; that killed it; signal.group_exit_code & 0x7f
  p.core_dumped,           -- 0 or 1; a core was dumped; signal.group_exit_code & 0x80
  p.oom_killed,            -- 0 or 1; the kernel's OOM killer chose it; signal.oom_mm
  i.role,                  -- text; what it is to the model; rule or generic
  i.rule,                  -- text; rule that said so, NULL: the generic step; rules
  i.reason,                -- text; how it came to its task; model
  i.program,               -- text; base name of the program, comm where no path is known; linux_binprm.filename
  i.path,                  -- text; the program as executed, NULL: same as its parent's; linux_binprm.filename or mm.exe_file
  p.arguments,             -- bytes; argv after redaction, each ended by NUL, NULL: same as its parent's or unknown; mm.arg_start
  p.redacted_count,        -- count; values that redaction took out of arguments; correlator
  p.arguments_truncated,   -- 0 or 1; argv was longer than what is kept; mm.arg_end
  p.working_directory,     -- text; at exec, NULL: unknown or its parent's; fs.pwd
  p.spawn_cpu_ns,          -- ns; of cpu_ns, used between its fork and its exec; sum_exec_runtime at exec
  p.cpu_ns,                -- ns; on-CPU time, all threads, teardown included when final; sum_exec_runtime
  p.user_ns,               -- ns; of cpu_ns, in user mode, split as the kernel does; utime
  p.system_ns,             -- ns; of cpu_ns, in the kernel; stime
  p.run_delay_ns,          -- ns; runnable, waiting for a processor, all threads; sched_info.run_delay
  p.block_io_delay_ns,     -- ns; waiting for block I/O, NULL unless delay accounting is on; task.delays.blkio_delay
  p.voluntary_switches,    -- count; context switches; nvcsw
  p.involuntary_switches,  -- count; preemptions; nivcsw
  p.minor_faults,          -- count; page faults without I/O; min_flt
  p.major_faults,          -- count; page faults with I/O; maj_flt
  p.read_bytes,            -- bytes; fetched from storage; ioac.read_bytes
  p.write_bytes,           -- bytes; dirtied for storage; ioac.write_bytes
  p.cancelled_write_bytes, -- bytes; dirtied, then truncated; ioac.cancelled_write_bytes
  p.rchar_bytes,           -- bytes; through read-like calls, pipes included; ioac.rchar
  p.wchar_bytes,           -- bytes; through write-like calls, pipes included; ioac.wchar
  p.syscr_count,           -- count; read-like calls; ioac.syscr
  p.syscw_count,           -- count; write-like calls; ioac.syscw
  p.peak_rss_bytes         -- bytes; peak resident set of this image alone; max(mm.hiwater_rss, mm.rss_stat)
  FROM process_rows p
  LEFT JOIN images i ON i.id = p.image_id
  LEFT JOIN tools t ON t.id = p.tool_id;

-- Writing a process: inserted, or replaced where its id is there.
CREATE TRIGGER processes_put INSTEAD OF INSERT ON processes BEGIN
  INSERT INTO images (path, program, reason, rule, role)
  SELECT NEW.path, NEW.program, NEW.reason, NEW.rule, NEW.role
   WHERE NOT EXISTS (SELECT 1 FROM images
                      WHERE path IS NEW.path AND program IS NEW.program AND reason IS NEW.reason
                        AND rule IS NEW.rule AND role IS NEW.role);
  INSERT INTO process_rows (
    id, rev, image_id, container_id, tool_id, parent_id, pid, exec_id, user_id, began, ended,
    totals, begin_boot_ns, end_boot_ns, started_unix_ns, exit_code, signal, core_dumped,
    oom_killed, arguments, redacted_count, arguments_truncated, working_directory, spawn_cpu_ns,
    cpu_ns, user_ns, system_ns, run_delay_ns, block_io_delay_ns, voluntary_switches,
    involuntary_switches, minor_faults, major_faults, read_bytes, write_bytes,
    cancelled_write_bytes, rchar_bytes, wchar_bytes, syscr_count, syscw_count, peak_rss_bytes)
  VALUES (
    NEW.id, NEW.rev,
    (SELECT id FROM images WHERE path IS NEW.path AND program IS NEW.program
       AND reason IS NEW.reason AND rule IS NEW.rule AND role IS NEW.role LIMIT 1),
    NEW.container_id, NEW.tool_id, NEW.parent_id, NEW.pid, NEW.exec_id, NEW.user_id, NEW.began,
    NEW.ended, NEW.totals, NEW.begin_boot_ns, NEW.end_boot_ns, NEW.started_unix_ns,
    NEW.exit_code, NEW.signal, NEW.core_dumped, NEW.oom_killed, NEW.arguments,
    NEW.redacted_count, NEW.arguments_truncated, NEW.working_directory, NEW.spawn_cpu_ns,
    NEW.cpu_ns, NEW.user_ns, NEW.system_ns, NEW.run_delay_ns, NEW.block_io_delay_ns,
    NEW.voluntary_switches, NEW.involuntary_switches, NEW.minor_faults, NEW.major_faults,
    NEW.read_bytes, NEW.write_bytes, NEW.cancelled_write_bytes, NEW.rchar_bytes,
    NEW.wchar_bytes, NEW.syscr_count, NEW.syscw_count, NEW.peak_rss_bytes)
      ON CONFLICT (id) DO UPDATE SET
    rev = excluded.rev, image_id = excluded.image_id, container_id = excluded.container_id,
    tool_id = excluded.tool_id, parent_id = excluded.parent_id, pid = excluded.pid,
    exec_id = excluded.exec_id, user_id = excluded.user_id, began = excluded.began,
    ended = excluded.ended, totals = excluded.totals, begin_boot_ns = excluded.begin_boot_ns,
    end_boot_ns = excluded.end_boot_ns, started_unix_ns = excluded.started_unix_ns,
    exit_code = excluded.exit_code, signal = excluded.signal,
    core_dumped = excluded.core_dumped, oom_killed = excluded.oom_killed,
    arguments = excluded.arguments, redacted_count = excluded.redacted_count,
    arguments_truncated = excluded.arguments_truncated,
    working_directory = excluded.working_directory, spawn_cpu_ns = excluded.spawn_cpu_ns,
    cpu_ns = excluded.cpu_ns, user_ns = excluded.user_ns, system_ns = excluded.system_ns,
    run_delay_ns = excluded.run_delay_ns, block_io_delay_ns = excluded.block_io_delay_ns,
    voluntary_switches = excluded.voluntary_switches,
    involuntary_switches = excluded.involuntary_switches, minor_faults = excluded.minor_faults,
    major_faults = excluded.major_faults, read_bytes = excluded.read_bytes,
    write_bytes = excluded.write_bytes, cancelled_write_bytes = excluded.cancelled_write_bytes,
    rchar_bytes = excluded.rchar_bytes, wchar_bytes = excluded.wchar_bytes,
    syscr_count = excluded.syscr_count, syscw_count = excluded.syscw_count,
    peak_rss_bytes = excluded.peak_rss_bytes;
END;

-- The shape over time of living processes: one row a pass in which the process
-- had used CPU or its memory had changed.
CREATE TABLE samples (
  process_id        INTEGER NOT NULL, -- id; processes.id; derived
  boot_ns           INTEGER NOT NULL, -- ns, boot clock; when it was looked at; iterator
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

-- What went wrong, in one sentence of facts.
CREATE TABLE incidents (
  id                INTEGER NOT NULL PRIMARY KEY, -- id; hash of its process or task and kind; derived
  rev               INTEGER NOT NULL, -- count; revision of this row; correlator
  host_id           INTEGER NOT NULL, -- id; hosts.id; derived
  run_id            INTEGER, -- id; runs.id; model
  task_id           INTEGER, -- id; tasks.id; model
  process_id        INTEGER, -- id; processes.id; model
  kind              TEXT NOT NULL, -- text; exit-code, signal, oom-kill; model
  boot_ns           INTEGER NOT NULL, -- ns, boot clock; when; event
  unix_ns           INTEGER NOT NULL, -- ns; wall clock at boot_ns; CLOCK_REALTIME
  sentence          TEXT NOT NULL -- text; what failed and what is known of why; model
) STRICT;
CREATE INDEX incidents_by_run ON incidents (run_id);

-- What the kernel side had to drop: known to have happened, not what it was.
CREATE TABLE losses (
  id                INTEGER NOT NULL PRIMARY KEY, -- id; hash of host, boot, kind, cgroup and first time; derived
  rev               INTEGER NOT NULL, -- count; revision of this row; correlator
  host_id           INTEGER NOT NULL, -- id; hosts.id; derived
  kind              TEXT NOT NULL, -- text; fork, exec, exit, final, cgroup, ignored, unknown; ring
  cgroup_path       TEXT, -- text; where, NULL: unknown; cgroup
  lost_count        INTEGER NOT NULL, -- count; records; ring
  first_boot_ns     INTEGER NOT NULL, -- ns, boot clock; first of them; ring
  last_boot_ns      INTEGER NOT NULL, -- ns, boot clock; last of them; ring
  unix_ns           INTEGER NOT NULL -- ns; wall clock at first_boot_ns; CLOCK_REALTIME
) STRICT;

-- Paths of cgroup ids of this boot, so that a restart need not ask again.
CREATE TABLE cgroups (
  id                INTEGER NOT NULL PRIMARY KEY, -- id; hash of host, boot and cgroup id; derived
  rev               INTEGER NOT NULL, -- count; revision of this row; correlator
  cgroup_id         INTEGER NOT NULL, -- id; kernfs id, hierarchy id in the top byte; cgroup.kn.id
  path              TEXT NOT NULL -- text; path in its hierarchy; cgroup.kn walked to the root
) STRICT;

-- Where the stream stands: committed with the events it speaks of. One row.
CREATE TABLE stream (
  id                INTEGER NOT NULL PRIMARY KEY CHECK (id = 1), -- count; always 1; schema
  boot_id           TEXT NOT NULL, -- text; boot that the ring belongs to; hello
  ring_epoch        INTEGER NOT NULL, -- count; ring that the offset belongs to; hello
  ring_offset       INTEGER NOT NULL, -- bytes; everything before is in this store; ring
  rev               INTEGER NOT NULL, -- count; highest revision given out; correlator
  committed_boot_ns INTEGER NOT NULL, -- ns, boot clock; latest event committed; event
  committed_unix_ns INTEGER NOT NULL -- ns; wall clock of the last commit; CLOCK_REALTIME
) STRICT;

-- What the correlator must remember of living processes beyond their rows, to go
-- on after a restart. Private to it: no reader, not shipped.
CREATE TABLE checkpoints (
  process_id        INTEGER NOT NULL PRIMARY KEY, -- id; processes.id; derived
  state             BLOB NOT NULL -- msgpack; correlator/checkpoint_fields.h; correlator
) STRICT;

-- Runs with their host's name and wall time. As in the two views that follow, what is
-- left without processes is not there, and the wall time is unknown while it lives.
CREATE VIEW standing_runs AS
  SELECT r.*, h.hostname AS host, r.end_boot_ns - r.begin_boot_ns AS wall_ns
    FROM runs r LEFT JOIN hosts h ON h.id = r.host_id
   WHERE r.process_count > 0;
-- Tasks that were not merged into another.
CREATE VIEW standing_tasks AS
  SELECT *, end_boot_ns - begin_boot_ns AS wall_ns FROM tasks
   WHERE merged_into_id IS NULL AND process_count > 0;
-- Tools that have processes.
CREATE VIEW standing_tools AS
  SELECT *, end_boot_ns - begin_boot_ns AS wall_ns FROM tools WHERE process_count > 0;
