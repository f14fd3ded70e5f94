-- More measurements: network, waiting for memory, uninterruptible sleep, cgroup limits,
-- senders of fatal signals, GPU devices, and the host itself over time.

ALTER TABLE hosts ADD COLUMN os TEXT; -- text; distribution; /etc/os-release PRETTY_NAME
ALTER TABLE hosts ADD COLUMN kernel_build TEXT; -- text; build of the kernel; uname.version
ALTER TABLE hosts ADD COLUMN vendor TEXT; -- text; manufacturer of the machine, or the cloud provider; DMI sys_vendor
ALTER TABLE hosts ADD COLUMN product TEXT; -- text; model of the machine, on a cloud the instance type; DMI product_name
ALTER TABLE hosts ADD COLUMN asset_tag TEXT; -- text; asset tag, on a cloud the instance id; DMI board_asset_tag, chassis_asset_tag
ALTER TABLE hosts ADD COLUMN cpu_model TEXT; -- text; name of the processor; /proc/cpuinfo
ALTER TABLE hosts ADD COLUMN core_count INTEGER; -- count; physical cores online; thread_siblings_list of cpu*/topology
ALTER TABLE hosts ADD COLUMN swap_bytes INTEGER; -- bytes; swap space; /proc/meminfo
ALTER TABLE hosts ADD COLUMN memory_limit_bytes INTEGER; -- bytes; memory limit if this host is a container, NULL: none; root cgroup memory.max
ALTER TABLE hosts ADD COLUMN core_limit_milli INTEGER; -- 1/1000 core; processors that this host may use if it is a container, NULL: all; root cgroup cpu.max
ALTER TABLE hosts ADD COLUMN delay_accounting INTEGER; -- 0 or 1; whether the kernel counts waits for block I/O and memory; kernel.task_delayacct

ALTER TABLE containers ADD COLUMN image TEXT; -- text; image that it was created from, NULL: visible only through the runtime's socket; command line of its client
ALTER TABLE containers ADD COLUMN name TEXT; -- text; name that it was given, NULL: as for image; command line of its client or monitor, of a pod NAMESPACE/POD/CONTAINER from /var/log/containers
ALTER TABLE containers ADD COLUMN pid_namespace INTEGER; -- inode; pid namespace of its first process; task.nsproxy
ALTER TABLE containers ADD COLUMN memory_limit_bytes INTEGER; -- bytes; requested: memory limit of its cgroup, NULL: none or unknown; smallest mem_cgroup.memory.max from it up to the root
ALTER TABLE containers ADD COLUMN cgroup_peak_bytes INTEGER; -- bytes; used: highest memory use of that cgroup since its creation, page cache included; mem_cgroup.memory.watermark
ALTER TABLE containers ADD COLUMN throttled_ns INTEGER; -- ns; time for which the CPU quota throttled that cgroup, since it was first seen here; cfs_bandwidth.throttled_time

ALTER TABLE runs ADD COLUMN memory_delay_ns INTEGER; -- ns; waiting for memory; see processes
ALTER TABLE runs ADD COLUMN sent_bytes INTEGER; -- bytes; sent by TCP and UDP; see processes
ALTER TABLE runs ADD COLUMN received_bytes INTEGER; -- bytes; received by TCP and UDP; see processes
ALTER TABLE runs ADD COLUMN uninterruptible_ns INTEGER; -- ns; estimated time in uninterruptible sleep, summed over its processes; see processes
ALTER TABLE runs ADD COLUMN memory_limit_bytes INTEGER; -- bytes; requested: memory limit of the memory cgroup that used most among those of its processes, NULL: none or unknown; smallest mem_cgroup.memory.max from it up to the root
ALTER TABLE runs ADD COLUMN cgroup_peak_bytes INTEGER; -- bytes; used: highest memory use of that cgroup since its creation, page cache included; mem_cgroup.memory.watermark
ALTER TABLE runs ADD COLUMN throttled_ns INTEGER; -- ns; time for which the CPU quota throttled that cgroup, since it was first seen here; cfs_bandwidth.throttled_time

ALTER TABLE tasks ADD COLUMN memory_delay_ns INTEGER; -- ns; waiting for memory; see processes
ALTER TABLE tasks ADD COLUMN sent_bytes INTEGER; -- bytes; sent by TCP and UDP; see processes
ALTER TABLE tasks ADD COLUMN received_bytes INTEGER; -- bytes; received by TCP and UDP; see processes
ALTER TABLE tasks ADD COLUMN uninterruptible_ns INTEGER; -- ns; estimated time in uninterruptible sleep, summed over its processes; see processes
ALTER TABLE tasks ADD COLUMN memory_limit_bytes INTEGER; -- bytes; requested: memory limit of the memory cgroup that used most among those of its processes, NULL: none or unknown; smallest mem_cgroup.memory.max from it up to the root
ALTER TABLE tasks ADD COLUMN cgroup_peak_bytes INTEGER; -- bytes; used: highest memory use of that cgroup since its creation, page cache included; mem_cgroup.memory.watermark
ALTER TABLE tasks ADD COLUMN throttled_ns INTEGER; -- ns; time for which the CPU quota throttled that cgroup, since it was first seen here; cfs_bandwidth.throttled_time

ALTER TABLE tools ADD COLUMN memory_delay_ns INTEGER; -- ns; waiting for memory; see processes
ALTER TABLE tools ADD COLUMN sent_bytes INTEGER; -- bytes; sent by TCP and UDP; see processes
ALTER TABLE tools ADD COLUMN received_bytes INTEGER; -- bytes; received by TCP and UDP; see processes
ALTER TABLE tools ADD COLUMN uninterruptible_ns INTEGER; -- ns; estimated time in uninterruptible sleep, summed over its processes; see processes

ALTER TABLE process_rows ADD COLUMN memory_delay_ns INTEGER;
ALTER TABLE process_rows ADD COLUMN sent_bytes INTEGER;
ALTER TABLE process_rows ADD COLUMN received_bytes INTEGER;
ALTER TABLE process_rows ADD COLUMN uninterruptible_ns INTEGER;
ALTER TABLE process_rows ADD COLUMN gpu TEXT;

ALTER TABLE samples ADD COLUMN sent_bytes INTEGER; -- bytes; sent so far; sock_send_length
ALTER TABLE samples ADD COLUMN received_bytes INTEGER; -- bytes; received so far; sock_recv_length
ALTER TABLE samples ADD COLUMN uninterruptible_count INTEGER; -- count; threads in uninterruptible sleep now; task.__state

ALTER TABLE incidents ADD COLUMN end_boot_ns INTEGER; -- ns, boot clock; end (stuck, idle, zombies), NULL: it persists or has no duration; samples
ALTER TABLE incidents ADD COLUMN cause TEXT; -- text; known cause, in one sentence; model
ALTER TABLE incidents ADD COLUMN sender_process_id INTEGER; -- id; processes.id of the sender of the fatal signal; signal_generate
ALTER TABLE incidents ADD COLUMN sender_program TEXT; -- text; program of the sender; signal_generate
ALTER TABLE incidents ADD COLUMN sender_user_id INTEGER; -- uid; real user of the sender; signal_generate

-- The state of the host over time. Counters grow since boot: the difference of two rows
-- is what happened between them. NULL if this host's kernel does not report the value.
CREATE TABLE host_samples (
  host_id           INTEGER NOT NULL, -- id; hosts.id; derived
  unix_ns           INTEGER NOT NULL, -- ns; wall clock at the time of reading; CLOCK_REALTIME
  rev               INTEGER NOT NULL, -- count; revision of this row; correlator
  boot_ns           INTEGER NOT NULL, -- ns, boot clock; the same moment; CLOCK_BOOTTIME
  cpu_user_ns       INTEGER, -- ns; all processors in user mode, nice included; /proc/stat
  cpu_system_ns     INTEGER, -- ns; in the kernel, interrupts included; /proc/stat
  cpu_idle_ns       INTEGER, -- ns; idle; /proc/stat
  cpu_iowait_ns     INTEGER, -- ns; idle while a task waited for I/O; /proc/stat
  cpu_steal_ns      INTEGER, -- ns; taken by the hypervisor; /proc/stat
  running_count     INTEGER, -- count; threads running or ready now; /proc/stat procs_running
  blocked_count     INTEGER, -- count; threads blocked on I/O now; /proc/stat procs_blocked
  load_milli        INTEGER, -- 1/1000; one-minute load average; /proc/loadavg
  memory_available_bytes INTEGER, -- bytes; available without swapping; /proc/meminfo MemAvailable
  memory_free_bytes INTEGER, -- bytes; unused; /proc/meminfo MemFree
  memory_cache_bytes INTEGER, -- bytes; page cache and buffers; /proc/meminfo Cached + Buffers
  memory_dirty_bytes INTEGER, -- bytes; waiting to be written; /proc/meminfo Dirty
  swap_used_bytes   INTEGER, -- bytes; swapped out; /proc/meminfo SwapTotal - SwapFree
  cpu_some_ns       INTEGER, -- ns; some task waited for a processor; /proc/pressure/cpu
  memory_some_ns    INTEGER, -- ns; some task waited for memory; /proc/pressure/memory
  memory_full_ns    INTEGER, -- ns; all tasks waited for memory; /proc/pressure/memory
  io_some_ns        INTEGER, -- ns; some task waited for I/O; /proc/pressure/io
  io_full_ns        INTEGER, -- ns; all tasks waited for I/O; /proc/pressure/io
  disk_read_bytes   INTEGER, -- bytes; read from whole disks; /proc/diskstats
  disk_write_bytes  INTEGER, -- bytes; written to whole disks; /proc/diskstats
  disk_read_count   INTEGER, -- count; reads completed; /proc/diskstats
  disk_write_count  INTEGER, -- count; writes completed; /proc/diskstats
  disk_busy_ns      INTEGER, -- ns; with I/O in flight, summed over the disks; /proc/diskstats
  network_received_bytes INTEGER, -- bytes; received by devices, without interfaces built on them (bridges, bonds, VLANs), which would count the same bytes again, NULL: the network namespace is hidden from the correlator; /proc/1/net/dev, /sys/class/net
  network_sent_bytes INTEGER, -- bytes; sent by the same devices; /proc/1/net/dev
  network_dropped_count INTEGER, -- count; packets dropped, in both directions; /proc/1/net/dev
  PRIMARY KEY (host_id, unix_ns)
) STRICT, WITHOUT ROWID;
