-- The views over the tables. Processes are written to the tables beneath their view by processes.c.
--
-- Recreated after each migration, in its transaction: a view describes the tables of
-- the newest schema, so it has one text and no history. A change here alone still
-- needs a migration, an empty one, so that existing stores are updated. All DROPs precede
-- the first CREATE: restrict.c runs what follows.
DROP VIEW IF EXISTS process_commands; -- in older stores
DROP VIEW IF EXISTS readable_processes;
DROP VIEW IF EXISTS repeatable_versions;
DROP VIEW IF EXISTS repeatable_processes;
DROP VIEW IF EXISTS gpu_processes;
DROP VIEW IF EXISTS open_processes;
DROP VIEW IF EXISTS open_tasks;
DROP VIEW IF EXISTS readable_incidents;
DROP VIEW IF EXISTS readable_tools;
DROP VIEW IF EXISTS readable_tasks;
DROP VIEW IF EXISTS readable_runs;
DROP VIEW IF EXISTS processes;
DROP VIEW IF EXISTS joined_runs;
DROP VIEW IF EXISTS standing_runs;
DROP VIEW IF EXISTS work_runs;
DROP VIEW IF EXISTS standing_tasks;
DROP VIEW IF EXISTS standing_tools;
DROP VIEW IF EXISTS placed_samples;
DROP VIEW IF EXISTS host_activity;

-- One exec image of one process: a shell that execs a tool has two rows. A child that
-- execs at once has one row, whose figures include what it used before the exec.
CREATE VIEW processes AS SELECT
  p.id,                    -- id; host, boot, start time, pid and exec count; derived
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
  p.began,                 -- text; fork, exec, found (running before the probe); event
  p.ended,                 -- text; exit, exec (a new image followed), lost (gone without a record), left (tracer run ended first); event
  p.totals,                -- text; how final the counters are: sample, exec, exit, final; event
  p.begin_boot_ns,         -- ns, boot clock; start of this image: the fork, for a later program of the process the exec, start_boottime if found; event
  p.end_boot_ns,           -- ns, boot clock; end of this image, including the CPU time of its teardown; event
  p.started_unix_ns,       -- ns; wall clock at begin_boot_ns; CLOCK_REALTIME
  p.exit_code,             -- code; exit code of the thread group, NULL if killed or running; signal.group_exit_code
  p.signal,                -- signal; signal that killed it; signal.group_exit_code & 0x7f
  p.core_dumped,           -- 0 or 1; whether a core was dumped; signal.group_exit_code & 0x80
  p.oom_killed,            -- 0 or 1; whether the kernel's OOM killer chose it; signal.oom_mm
  i.role,                  -- text; its role in the model; rule or generic
  i.rule,                  -- text; rule that assigned the role, NULL: the generic step; rules
  i.reason,                -- text; why it belongs to its task; model
  i.program,               -- text; base name of the program, comm if no path is known; linux_binprm.filename
  i.path,                  -- text; the program as executed, with a … where it is cut, NULL: same as its parent's; linux_binprm.filename or mm.exe_file
  p.arguments,             -- bytes; argv after redaction, each argument terminated by NUL, NULL: same as its parent's or unknown; mm.arg_start
  p.redacted_count,        -- count; values that redaction removed from arguments; correlator
  p.arguments_truncated,   -- 0 or 1; whether argv was longer than what is stored, or could not be read; mm.arg_end
  p.working_directory,     -- text; working directory at exec, only its end after a … if it is too deep, NULL: same as its parent's or unknown; fs.pwd
  p.spawn_cpu_ns,          -- ns; part of cpu_ns used between its fork and its exec; sum_exec_runtime at exec
  p.cpu_ns,                -- ns; on-CPU time of all threads, including teardown if totals is final; sum_exec_runtime
  p.user_ns,               -- ns; part of cpu_ns in user mode, split as the kernel does; utime
  p.system_ns,             -- ns; part of cpu_ns in kernel mode; stime
  p.run_delay_ns,          -- ns; runnable, waiting for a processor, summed over threads; sched_info.run_delay
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
  p.peak_rss_bytes,        -- bytes; peak resident set of this image alone; max(mm.hiwater_rss, mm.rss_stat)
  p.memory_delay_ns,       -- ns; waiting for memory: swap-in, reclaim, thrashing, or as scans found it (memory.high), NULL: neither known; task.delays, task.in_memstall
  p.sent_bytes,            -- bytes; sent by TCP and UDP sockets, without headers, NULL if the kernel does not report it; sock_send_length
  p.received_bytes,        -- bytes; received by TCP and UDP sockets, without data only peeked at; sock_recv_length
  p.uninterruptible_ns,    -- ns; scans that found a thread in uninterruptible sleep (D), each counted as the time since the previous scan; samples
  p.gpu,                   -- text; GPU devices that scans found open, separated by commas; /proc/devices, file descriptors
  p.failed,                -- 0 or 1; whether it failed: it did not end with 0, and that was not expected, NULL: not ended, or result unknown; model
  p.partial,               -- 0 or 1; whether some figures are lower bounds because the usage of ended threads could not be kept; kernel side
  p.gpu_busy_ns,           -- ns; time that GPUs worked for it, summed over devices, without its last moments, NULL: not reported; sampler
  p.gpu_energy_uj,         -- microjoule; energy of GPUs while it alone held them, NULL: never alone, or not reported; sampler
  p.gpu_peak_bytes,        -- bytes; largest GPU memory at one sample, on all devices, NULL: not reported; sampler
  p.gpu_throttled_ns,      -- ns; part of gpu_busy_ns in which the device had lowered its clocks because of heat or power, NULL: not reported; sampler
  p.gpu_capacity_bytes,    -- bytes; memory of the devices, or slices of them, that it held at one sample, the largest, NULL: not reported; sampler
  p.gpu_clock_ns,          -- ns; gpu_busy_ns, times the share of their highest clock at which the processors of the devices ran, NULL: not reported; sampler
  p.gpu_memory_clock_ns,   -- ns; the same of the clock of their memory, NULL: not reported; sampler
  p.gpu_memory_busy_ns     -- ns; time that the memory of the devices was read or written for it, NULL: not reported; sampler
  FROM process_rows p
  LEFT JOIN images i ON i.id = p.image_id
  LEFT JOIN tools t ON t.id = p.tool_id;

-- Runs with their host's name and wall time. This view and the next three leave out rows
-- without processes; the wall time is unknown until they end. peak_memory_bytes is the memory that they needed, in all of
-- these and in open_tasks: what one process held at most counts where scans, once a second, found less of all together.
CREATE VIEW standing_runs AS
  SELECT r.*, h.hostname AS host, r.end_boot_ns - r.begin_boot_ns AS wall_ns,
         CASE WHEN r.peak_rss_bytes > r.concurrent_memory_bytes THEN r.peak_rss_bytes
              ELSE coalesce(r.concurrent_memory_bytes, r.peak_rss_bytes) END AS peak_memory_bytes
    FROM runs r LEFT JOIN hosts h ON h.id = r.host_id
   WHERE r.process_count > 0;
-- Runs of work: all but the system's own, login sessions, and services of the distribution and known agents. life_ns ends
-- when the run did, or when its host was last seen. A workflow engine is no service.
CREATE VIEW work_runs AS
  SELECT r.*, r.started_unix_ns + (r.end_boot_ns - r.begin_boot_ns) AS end_unix_ns,
         coalesce(r.end_boot_ns - r.begin_boot_ns, h.last_seen_unix_ns - h.boot_unix_ns - r.begin_boot_ns) AS life_ns,
         coalesce(r.read_bytes, 0) + coalesce(r.write_bytes, 0) + coalesce(r.sent_bytes, 0)
           + coalesce(r.received_bytes, 0) AS moved_bytes,
         CASE WHEN r.kind = 'service' AND r.engine IS NULL THEN 1 ELSE 0 END AS is_service,
         CASE WHEN r.peak_rss_bytes > r.concurrent_memory_bytes THEN r.peak_rss_bytes
              ELSE coalesce(r.concurrent_memory_bytes, r.peak_rss_bytes) END AS peak_memory_bytes
    FROM runs r LEFT JOIN hosts h ON h.id = r.host_id
   WHERE r.process_count > 0 AND r.kind NOT IN ('system', 'session', 'host-service');
-- Tasks that were not merged into another one.
CREATE VIEW standing_tasks AS
  SELECT *, end_boot_ns - begin_boot_ns AS wall_ns,
         CASE WHEN peak_rss_bytes > concurrent_memory_bytes THEN peak_rss_bytes
              ELSE coalesce(concurrent_memory_bytes, peak_rss_bytes) END AS peak_memory_bytes
    FROM tasks
   WHERE merged_into_id IS NULL AND process_count > 0;
-- Tools that have processes.
CREATE VIEW standing_tools AS
  SELECT *, end_boot_ns - begin_boot_ns AS wall_ns FROM tools WHERE process_count > 0;

-- Processes that have not ended, and tasks with such: a lake finds them without reading the others.
CREATE VIEW open_processes AS
  SELECT * FROM processes WHERE end_boot_ns IS NULL;
CREATE VIEW open_tasks AS
  SELECT *, end_boot_ns - begin_boot_ns AS wall_ns,
         CASE WHEN peak_rss_bytes > concurrent_memory_bytes THEN peak_rss_bytes
              ELSE coalesce(concurrent_memory_bytes, peak_rss_bytes) END AS peak_memory_bytes
    FROM tasks
   WHERE merged_into_id IS NULL AND process_count > 0 AND end_boot_ns IS NULL;

-- Processes that had a GPU open: a lake finds them without reading the others.
CREATE VIEW gpu_processes AS
  SELECT * FROM processes WHERE gpu IS NOT NULL;

-- For use with SQL: ids as tracer prints them. `run` is the id of the run, and so on.
CREATE VIEW readable_runs AS
  SELECT printf('%016x', r.id) AS run, r.* FROM standing_runs r;
CREATE VIEW readable_tasks AS
  SELECT printf('%016x', t.id) AS task, printf('%016x', t.run_id) AS run, t.* FROM standing_tasks t;
CREATE VIEW readable_tools AS
  SELECT printf('%016x', t.id) AS tool, printf('%016x', t.task_id) AS task, printf('%016x', t.run_id) AS run, t.*
    FROM standing_tools t;
CREATE VIEW readable_incidents AS
  SELECT printf('%016x', i.run_id) AS run, CASE WHEN i.task_id IS NOT NULL THEN printf('%016x', i.task_id) END AS task,
         CASE WHEN i.process_id IS NOT NULL THEN printf('%016x', i.process_id) END AS process, i.*
    FROM incidents i;
-- Likewise; `command` is the command line as text, quoted so that a shell can read it back.
CREATE VIEW readable_processes AS
  SELECT printf('%016x', p.id) AS process, printf('%016x', p.run_id) AS run, printf('%016x', p.task_id) AS task,
         printf('%016x', p.tool_id) AS tool,
         CASE WHEN p.parent_id IS NOT NULL THEN printf('%016x', p.parent_id) END AS parent, p.host_id AS host_id,
         p.pid AS pid, p.user_id AS user_id, p.started_unix_ns AS started_unix_ns,
         p.end_boot_ns - p.begin_boot_ns AS wall_ns, p.program AS program, p.working_directory AS working_directory,
         p.ended AS ended, p.exit_code AS exit_code, p.signal AS signal, p.cpu_ns AS cpu_ns,
         p.run_delay_ns AS run_delay_ns, p.block_io_delay_ns AS block_io_delay_ns,
         p.peak_rss_bytes AS peak_rss_bytes, p.read_bytes AS read_bytes, p.write_bytes AS write_bytes, (
    WITH RECURSIVE words(number, word, rest) AS (
      SELECT 0, NULL, p.arguments
      UNION ALL
      SELECT number + 1,
             CASE instr(rest, x'00') WHEN 0 THEN rest
                                     ELSE substr(rest, 1, instr(rest, x'00') - 1) END,
             CASE instr(rest, x'00') WHEN 0 THEN x'' ELSE substr(rest, instr(rest, x'00') + 1) END
        FROM words
       WHERE length(rest) > 0
    )
    SELECT group_concat(CASE WHEN word = x'' OR
                                  CAST(word AS TEXT) GLOB '*[^]a-zA-Z0-9_./=:,+@%[-]*'
                             THEN '''' || replace(CAST(word AS TEXT), '''', '''\''''') || ''''
                             ELSE CAST(word AS TEXT) END, ' ')
      FROM words
     WHERE number > 0) AS command
    FROM processes p;

-- Processes whose command line and directory are known.
CREATE VIEW repeatable_processes AS
  SELECT id, host_id, run_id, program, arguments, working_directory, exit_code, started_unix_ns,
         end_boot_ns - begin_boot_ns AS wall_ns, cpu_ns, peak_rss_bytes
    FROM processes
   WHERE length(arguments) > 0 AND working_directory IS NOT NULL;
-- What finds those of them that may be the same without reading texts: command_key is the same number for the same command
-- line in the same directory of a host, and may be for others. A lake makes it of the host and a hash that it keeps, one
-- number, because it counts numbers faster than pairs, and has all versions of a row here.
CREATE VIEW repeatable_versions AS
  SELECT id, host_id, length(arguments) AS command_key, exit_code, started_unix_ns, cpu_ns
    FROM repeatable_processes;

-- Samples with their wall-clock time and the host of their process: a lake orders samples by host and process.
CREATE VIEW placed_samples AS
  SELECT s.*, t.host_id AS host_id, s.boot_ns + p.started_unix_ns - p.begin_boot_ns AS unix_ns
    FROM samples s
    LEFT JOIN process_rows p ON p.id = s.process_id
    LEFT JOIN tools t ON t.id = p.tool_id;

-- Runs with a key: the parts of a run on several hosts have the same key and cluster
-- (hosts.cluster: keys are unique only within a cluster; a host without one counts as one) and
-- overlap in time, with a tolerance of one minute because clocks differ. A part is joined to earlier parts if it began before all of
-- them had ended; a part that has not ended lasts until its host was last seen. joined_id is the
-- id of the part that began first.
CREATE VIEW joined_runs AS
  WITH spans AS (
    SELECT r.id AS id, r.host_id AS host_id, h.hostname AS host,
           coalesce('cluster ' || h.cluster, CAST(r.host_id AS TEXT)) AS cluster,
           r.run_key AS run_key, r.started_unix_ns AS begin_unix_ns,
           CASE WHEN r.end_boot_ns IS NULL THEN h.last_seen_unix_ns
                ELSE r.started_unix_ns + (r.end_boot_ns - r.begin_boot_ns) END AS end_unix_ns
      FROM runs r LEFT JOIN hosts h ON h.id = r.host_id
     WHERE r.run_key IS NOT NULL AND r.process_count > 0
  ), followed AS (
    SELECT id, host_id, host, cluster, run_key, begin_unix_ns,
           max(end_unix_ns) OVER (PARTITION BY cluster, run_key ORDER BY begin_unix_ns, id
                                  ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_unix_ns
      FROM spans
  ), numbered AS (
    SELECT id, host_id, host, cluster, run_key, begin_unix_ns,
           sum(CASE WHEN begin_unix_ns <= before_unix_ns + 60000000000 THEN 0 ELSE 1 END)
             OVER (PARTITION BY cluster, run_key ORDER BY begin_unix_ns, id
                   ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS number
      FROM followed
  )
  SELECT id, host_id, host, run_key,
         first_value(id) OVER (PARTITION BY cluster, run_key, number ORDER BY begin_unix_ns, id
                               ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS joined_id,
         min(begin_unix_ns) OVER (PARTITION BY cluster, run_key, number) AS joined_unix_ns,
         count(*) OVER (PARTITION BY cluster, run_key, number) AS part_count
    FROM numbered;

-- Activity of each host in periods of five minutes: differences between the last samples of each minute,
-- counted for the period in which they end. Differences across a boot (the counters restart) or a jump of the clock
-- are left out, and those over more than ten minutes. most_core_milli is the busiest minute, in thousandths of a
-- core. A value is NULL if the kernel does not report it. A lake keeps these rows (datalake/rollups/host_activity.sql).
CREATE VIEW host_activity AS
  WITH minute AS (
    SELECT host_id, unix_ns - unix_ns % 60000000000 AS minute_unix_ns, max(unix_ns) AS now_unix_ns,
           max(boot_ns) AS now_boot_ns, min(memory_available_bytes) AS available_bytes,
           min(coalesce(memory_free_bytes, memory_available_bytes)) AS free_bytes, max(memory_cache_bytes) AS cache_bytes,
           max(swap_used_bytes) AS swap_bytes, max(running_count) AS thread_count,
           max(cpu_user_ns + cpu_system_ns) AS busy_now_ns,
           max(cpu_iowait_ns) AS iowait_now_ns,
           max(cpu_steal_ns) AS steal_now_ns,
           max(memory_full_ns) AS memory_stall_now_ns,
           max(io_full_ns) AS io_stall_now_ns,
           max(disk_read_bytes + disk_write_bytes) AS disk_now_bytes,
           max(network_received_bytes + network_sent_bytes) AS network_now_bytes
      FROM host_samples
     GROUP BY host_id, unix_ns - unix_ns % 60000000000
  ), paired AS (
    SELECT host_id, minute_unix_ns, now_unix_ns, available_bytes, free_bytes, cache_bytes, swap_bytes,
           thread_count,
           now_unix_ns - min(now_unix_ns) OVER earlier AS apart_ns,
           now_boot_ns - min(now_boot_ns) OVER earlier AS elapsed_ns,
           busy_now_ns - min(busy_now_ns) OVER earlier AS busy_ns,
           iowait_now_ns - min(iowait_now_ns) OVER earlier AS iowait_ns,
           steal_now_ns - min(steal_now_ns) OVER earlier AS steal_ns,
           memory_stall_now_ns - min(memory_stall_now_ns) OVER earlier AS memory_stall_ns,
           io_stall_now_ns - min(io_stall_now_ns) OVER earlier AS io_stall_ns,
           disk_now_bytes - min(disk_now_bytes) OVER earlier AS disk_bytes,
           network_now_bytes - min(network_now_bytes) OVER earlier AS network_bytes
      FROM minute
    WINDOW earlier AS (PARTITION BY host_id ORDER BY minute_unix_ns ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING)
  )
  SELECT host_id, minute_unix_ns - minute_unix_ns % 300000000000 AS begin_unix_ns, max(now_unix_ns) AS last_unix_ns,
         sum(elapsed_ns) AS covered_ns, sum(busy_ns) AS cpu_ns,
         max(CAST(1000.0 * busy_ns / elapsed_ns AS BIGINT)) AS most_core_milli,
         sum(iowait_ns) AS cpu_iowait_ns,
         sum(steal_ns) AS cpu_steal_ns,
         sum(memory_stall_ns) AS memory_full_ns,
         sum(io_stall_ns) AS io_full_ns,
         sum(disk_bytes) AS disk_bytes,
         sum(network_bytes) AS network_bytes,
         min(available_bytes) AS least_memory_available_bytes, max(swap_bytes) AS most_swap_used_bytes,
         max(thread_count) AS most_running_count, min(free_bytes) AS least_memory_free_bytes,
         max(cache_bytes) AS most_memory_cache_bytes
    FROM paired
   WHERE elapsed_ns > 0 AND apart_ns <= 600000000000 AND abs(apart_ns - elapsed_ns) <= 30000000000
   GROUP BY host_id, minute_unix_ns - minute_unix_ns % 300000000000;
