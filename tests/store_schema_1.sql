-- A store of schema 1 with a run of its release: what .dump printed of the recorded script, replayed.

BEGIN TRANSACTION;
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
INSERT INTO hosts VALUES(5525101624138028096,1,'4cad1aa766ae5440','golden','00000000-0000-4000-8000-000000000000',1795173307298544831,'6.1.0','x86_64',2,4294967296,'0.1.0',1795178730554072178,1795178733560392398);
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
INSERT INTO runs VALUES(3198754713001401446,26,5525101624138028096,NULL,'command','script.sh',NULL,NULL,1714054769508042711,4857240138245665448,65534,'/tmp/golden/work','succeeded',0,NULL,4848999671347972651,'child of an origin',5423264075585,5425310754694,5423312072329,1795178730562620402,5,13,0,1,0,54017881,30171410,23846471,6132953,NULL,36,9,10329,3,12288,184320,0,689089,387483,157,64,19070976,NULL);
INSERT INTO runs VALUES(7926694263344198150,5,5525101624138028096,NULL,'system','system',NULL,NULL,NULL,NULL,NULL,NULL,'ended',NULL,NULL,4848999671347972651,'the host''s own processes',5423263027256,5423312194171,NULL,1795178730561572073,0,1,0,0,0,2501452,2501452,0,0,NULL,2,0,223,0,0,0,0,23525,0,23,0,987136,NULL);
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
INSERT INTO tasks VALUES(3236343835490119823,4,5525101624138028096,7926694263344198150,NULL,NULL,NULL,'main','tracer run',NULL,NULL,NULL,'ended',NULL,NULL,'the run''s own',5423263027256,5423312194171,1795178730561572073,1,0,0,0,2501452,2501452,0,0,NULL,2,0,223,0,0,0,0,23525,0,23,0,987136,NULL);
INSERT INTO tasks VALUES(2898941435396074715,10,5525101624138028096,3198754713001401446,NULL,NULL,NULL,'main','script.sh',1714054769508042711,NULL,NULL,'succeeded',0,NULL,'the run''s own',5423264075585,5423312072329,1795178730562620402,3,0,1,0,7380101,4490363,2889738,1553958,NULL,11,0,801,0,0,4096,0,128515,50,45,1,3608576,NULL);
INSERT INTO tasks VALUES(5468598572740946380,14,5525101624138028096,3198754713001401446,2898941435396074715,NULL,NULL,'generic','sort + gzip',6746058243372147085,1714054769508042711,'/tmp/golden/work','succeeded',0,NULL,'direct subtree of the outermost orchestrator',5423265631298,5423276546658,1795178730564176115,3,0,0,0,12847545,9521586,3325959,3682920,NULL,17,7,646,0,0,45056,0,229728,261961,41,54,2650112,NULL);
INSERT INTO tasks VALUES(8615548256442174956,16,5525101624138028096,3198754713001401446,2898941435396074715,NULL,NULL,'generic','gzip',1382200421784178073,1714054769508042711,'/tmp/golden/work','succeeded',0,NULL,'direct subtree of the outermost orchestrator',5423277176230,5423278835195,1795178730575721047,1,0,0,0,2139310,2139310,0,3358,NULL,1,1,124,0,0,110592,0,48153,108894,10,4,1409024,NULL);
INSERT INTO tasks VALUES(4217143429103202858,18,5525101624138028096,3198754713001401446,2898941435396074715,NULL,NULL,'generic','xz',7392174024967485596,1714054769508042711,'/tmp/golden/work','succeeded',0,NULL,'direct subtree of the outermost orchestrator',5423277257219,5423303083211,1795178730575802036,1,0,0,0,26446161,8815387,17630774,151912,NULL,3,0,8379,2,12288,20480,0,48985,16528,16,3,19070976,NULL);
INSERT INTO tasks VALUES(4619143160729929548,22,5525101624138028096,3198754713001401446,2898941435396074715,NULL,NULL,'generic','md5sum',5066833829688142656,1714054769508042711,'/tmp/golden/work','succeeded',0,NULL,'direct subtree of the outermost orchestrator',5423304415813,5423307676313,1795178730602960630,3,0,0,0,3362530,3362530,0,41578,NULL,3,0,222,0,0,4096,0,225748,50,29,2,1720320,NULL);
INSERT INTO tasks VALUES(4276018504217807458,25,5525101624138028096,3198754713001401446,2898941435396074715,NULL,NULL,'generic','setsid + sleep',874795309964209773,1714054769508042711,'/tmp/golden/work','succeeded',0,NULL,'direct subtree of the outermost orchestrator',5423308643469,5425310754694,1795178730607188286,2,0,0,0,1842234,1842234,0,699227,NULL,1,1,157,1,0,0,0,7960,0,16,0,1413120,NULL);
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
INSERT INTO tools VALUES(7866979803126734885,3,5525101624138028096,7926694263344198150,3236343835490119823,'tracer run','origin',5423263027256,5423312194171,1795178730561572073,1,0,0,2501452,2501452,0,0,NULL,2,0,223,0,0,0,0,23525,0,23,0,987136,NULL);
INSERT INTO tools VALUES(4788602226406032944,6,5525101624138028096,3198754713001401446,2898941435396074715,'script.sh','shell',5423264075585,5423312072329,1795178730562620402,1,0,0,3852985,963247,2889738,1553958,NULL,9,0,570,0,0,0,0,7911,0,21,0,3608576,NULL);
INSERT INTO tools VALUES(422803783649118175,7,5525101624138028096,3198754713001401446,2898941435396074715,'seq','helper',5423265631298,0,1795178730564176115,0,0,0,0,0,0,0,NULL,0,0,0,0,0,0,0,0,0,0,0,NULL,NULL);
INSERT INTO tools VALUES(2710868388676350983,8,5525101624138028096,3198754713001401446,2898941435396074715,'grep','helper',5423308650295,5423310139197,1795178730607195112,1,0,1,1931934,1931934,0,0,NULL,1,0,132,0,0,0,0,116574,0,14,0,1908736,NULL);
INSERT INTO tools VALUES(1372349232233244716,9,5525101624138028096,3198754713001401446,2898941435396074715,'head','helper',5423310789585,5423311890197,1795178730609334402,1,0,0,1595182,1595182,0,0,NULL,1,0,99,0,0,4096,0,4030,50,10,1,1363968,NULL);
INSERT INTO tools VALUES(8391618841304367749,11,5525101624138028096,3198754713001401446,5468598572740946380,'gzip','tool',5423265889043,5423276546658,1795178730564433860,1,0,0,8020201,8020201,0,325124,NULL,8,1,179,0,0,45056,0,112874,44173,18,1,1642496,NULL);
INSERT INTO tools VALUES(7950630396402987359,12,5525101624138028096,3198754713001401446,5468598572740946380,'sort','tool',5423266843007,5423272219412,1795178730565387824,1,0,0,3325959,0,3325959,3354783,NULL,7,6,365,0,0,0,0,112874,108894,15,27,2650112,NULL);
INSERT INTO tools VALUES(6423662983008495186,13,5525101624138028096,3198754713001401446,5468598572740946380,'seq','helper',5423265631298,5423267873118,1795178730564176115,1,0,0,1501385,1501385,0,3013,NULL,2,0,102,0,0,0,0,3980,108894,8,26,1449984,NULL);
INSERT INTO tools VALUES(9020206969931244693,15,5525101624138028096,3198754713001401446,8615548256442174956,'gzip','tool',5423277176230,5423278835195,1795178730575721047,1,0,0,2139310,2139310,0,3358,NULL,1,1,124,0,0,110592,0,48153,108894,10,4,1409024,NULL);
INSERT INTO tools VALUES(6440498251616364715,17,5525101624138028096,3198754713001401446,4217143429103202858,'xz','tool',5423277257219,5423303083211,1795178730575802036,1,0,0,26446161,8815387,17630774,151912,NULL,3,0,8379,2,12288,20480,0,48985,16528,16,3,19070976,NULL);
INSERT INTO tools VALUES(4700342326946302219,19,5525101624138028096,3198754713001401446,4619143160729929548,'script.sh','shell',5423304415813,5423306559322,1795178730602960630,1,0,0,459299,459299,0,41578,NULL,1,0,66,0,0,0,0,1580,0,5,0,NULL,NULL);
INSERT INTO tools VALUES(1238005091285160147,20,5525101624138028096,3198754713001401446,4619143160729929548,'md5sum','tool',5423305082581,5423306195105,1795178730603627398,1,0,0,1438793,1438793,0,0,NULL,1,0,94,0,0,4096,0,112874,39,13,1,1720320,NULL);
INSERT INTO tools VALUES(3951038295798833166,21,5525101624138028096,3198754713001401446,4619143160729929548,'wc','helper',5423306559322,5423307676313,1795178730605104139,1,0,0,1464438,1464438,0,0,NULL,1,0,62,0,0,0,0,111294,11,11,1,1474560,NULL);
INSERT INTO tools VALUES(8839243087526242041,23,5525101624138028096,3198754713001401446,4276018504217807458,'setsid','wrapper',5423308643469,5423309502947,1795178730607188286,1,0,0,1023261,1023261,0,478676,NULL,0,0,104,1,0,0,0,5560,0,13,0,NULL,NULL);
INSERT INTO tools VALUES(2077102003108300399,24,5525101624138028096,3198754713001401446,4276018504217807458,'sleep','helper',5423309502947,5425310754694,1795178730608047764,1,0,0,818973,818973,0,220551,NULL,1,1,53,0,0,0,0,2400,0,3,0,1413120,NULL);
CREATE TABLE images (
  id                INTEGER NOT NULL PRIMARY KEY, -- order of appearance
  role              TEXT NOT NULL, -- see processes
  rule              TEXT, -- see processes
  reason            TEXT NOT NULL, -- see processes
  program           TEXT NOT NULL, -- see processes
  path              TEXT -- see processes
) STRICT;
INSERT INTO images VALUES(1,'origin','tracer-run','origin: the host''s own','tracer','/tmp/golden/bin/tracer');
INSERT INTO images VALUES(2,'shell','posix-shell','child of an origin','bash','/usr/bin/bash');
INSERT INTO images VALUES(3,'helper','core-utilities','joined to a sibling by a pipe','seq','/usr/bin/seq');
INSERT INTO images VALUES(4,'tool',NULL,'only subtree so far: the run''s own','gzip','/usr/bin/gzip');
INSERT INTO images VALUES(5,'tool',NULL,'joined to a sibling by a pipe','sort','/usr/bin/sort');
INSERT INTO images VALUES(6,'tool',NULL,'direct subtree of the outermost orchestrator','gzip','/usr/bin/gzip');
INSERT INTO images VALUES(7,'tool',NULL,'direct subtree of the outermost orchestrator','xz','/usr/bin/xz');
INSERT INTO images VALUES(8,'shell','posix-shell','direct subtree of the outermost orchestrator','bash',NULL);
INSERT INTO images VALUES(9,'tool',NULL,'inside its parent''s task','md5sum','/usr/bin/md5sum');
INSERT INTO images VALUES(10,'helper','core-utilities','another image of its process','wc','/usr/bin/wc');
INSERT INTO images VALUES(11,'wrapper','command-wrapper','direct subtree of the outermost orchestrator','setsid','/usr/bin/setsid');
INSERT INTO images VALUES(12,'helper','text-utilities','helper beneath the orchestrator: its own','grep','/usr/bin/grep');
INSERT INTO images VALUES(13,'helper','core-utilities','another image of its process','sleep','/usr/bin/sleep');
INSERT INTO images VALUES(14,'helper','core-utilities','helper beneath the orchestrator: its own','head','/usr/bin/head');
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
INSERT INTO process_rows VALUES(4857240138245665448,27,1,NULL,7866979803126734885,NULL,19388,7,65534,'exec','exit','final',5423263027256,5423312194171,1795178730561572073,0,NULL,0,0,X'2f746d702f676f6c64656e2f62696e2f7472616365720072756e002d2d0062617368002f746d702f676f6c64656e2f7363726970742e736800',0,0,'/tmp/golden/work',0,2501452,2501452,0,0,NULL,2,0,223,0,0,0,0,23525,0,23,0,987136);
INSERT INTO process_rows VALUES(1714054769508042711,28,2,NULL,4788602226406032944,4857240138245665448,19389,8,65534,'exec','exit','final',5423264075585,5423312072329,1795178730562620402,0,NULL,0,0,X'62617368002f746d702f676f6c64656e2f7363726970742e736800',0,0,'/tmp/golden/work',221002,3852985,963247,2889738,1553958,NULL,9,0,570,0,0,0,0,7911,0,21,0,3608576);
INSERT INTO process_rows VALUES(957500542625328978,29,3,NULL,6423662983008495186,1714054769508042711,19390,9,65534,'exec','exit','final',5423265631298,5423267873118,1795178730564176115,0,NULL,0,0,X'73657100323030303000',0,0,'/tmp/golden/work',120092,1501385,1501385,0,3013,NULL,2,0,102,0,0,0,0,3980,108894,8,26,1449984);
INSERT INTO process_rows VALUES(6746058243372147085,30,4,NULL,8391618841304367749,1714054769508042711,19392,9,65534,'exec','exit','final',5423265889043,5423276546658,1795178730564433860,0,NULL,0,0,X'677a697000',0,0,'/tmp/golden/work',0,8020201,8020201,0,325124,NULL,8,1,179,0,0,45056,0,112874,44173,18,1,1642496);
INSERT INTO process_rows VALUES(6654958306069685032,31,5,NULL,7950630396402987359,1714054769508042711,19391,9,65534,'exec','exit','final',5423266843007,5423272219412,1795178730565387824,0,NULL,0,0,X'736f7274002d7200',0,0,'/tmp/golden/work',0,3325959,0,3325959,3354783,NULL,7,6,365,0,0,0,0,112874,108894,15,27,2650112);
INSERT INTO process_rows VALUES(1382200421784178073,32,6,NULL,9020206969931244693,1714054769508042711,19393,9,65534,'exec','exit','final',5423277176230,5423278835195,1795178730575721047,0,NULL,0,0,X'677a6970002d646300646174612e677a00',0,0,'/tmp/golden/work',254875,2139310,2139310,0,3358,NULL,1,1,124,0,0,110592,0,48153,108894,10,4,1409024);
INSERT INTO process_rows VALUES(7392174024967485596,33,7,NULL,6440498251616364715,1714054769508042711,19394,9,65534,'exec','exit','final',5423277257219,5423303083211,1795178730575802036,0,NULL,0,0,X'787a002d6b00646174612e677a00',0,0,'/tmp/golden/work',0,26446161,8815387,17630774,151912,NULL,3,0,8379,2,12288,20480,0,48985,16528,16,3,19070976);
INSERT INTO process_rows VALUES(5066833829688142656,34,8,NULL,4700342326946302219,1714054769508042711,19395,8,65534,'fork','exec','exec',5423304415813,5423306559322,1795178730602960630,NULL,NULL,NULL,NULL,NULL,0,0,NULL,NULL,459299,459299,0,41578,NULL,1,0,66,0,0,0,0,1580,0,5,0,NULL);
INSERT INTO process_rows VALUES(8990333107192535357,35,9,NULL,1238005091285160147,5066833829688142656,19396,9,65534,'exec','exit','final',5423305082581,5423306195105,1795178730603627398,0,NULL,0,0,X'6d643573756d006c65667400',0,0,'/tmp/golden/work',0,1438793,1438793,0,0,NULL,1,0,94,0,0,4096,0,112874,39,13,1,1720320);
INSERT INTO process_rows VALUES(7595388233888699621,36,10,NULL,3951038295798833166,5066833829688142656,19395,9,65534,'exec','exit','final',5423306559322,5423307676313,1795178730605104139,0,NULL,0,0,X'7763002d6c006c65667400',0,0,'/tmp/golden/work',NULL,1464438,1464438,0,0,NULL,1,0,62,0,0,0,0,111294,11,11,1,1474560);
INSERT INTO process_rows VALUES(874795309964209773,37,11,NULL,8839243087526242041,1714054769508042711,19397,9,65534,'exec','exec','exec',5423308643469,5423309502947,1795178730607188286,NULL,NULL,NULL,NULL,X'73657473696400736c656570003200',0,0,'/tmp/golden/work',0,1023261,1023261,0,478676,NULL,0,0,104,1,0,0,0,5560,0,13,0,NULL);
INSERT INTO process_rows VALUES(1706609762203778185,38,12,NULL,2710868388676350983,1714054769508042711,19398,9,65534,'exec','exit','final',5423308650295,5423310139197,1795178730607195112,1,NULL,0,0,X'67726570002d71006e6f626f64792d7772697465732d74686973006c65667400',0,0,'/tmp/golden/work',0,1931934,1931934,0,0,NULL,1,0,132,0,0,0,0,116574,0,14,0,1908736);
INSERT INTO process_rows VALUES(2715336218234695303,39,13,NULL,2077102003108300399,874795309964209773,19397,10,65534,'exec','exit','exit',5423309502947,5425310754694,1795178730608047764,0,NULL,0,0,X'736c656570003200',0,0,'/tmp/golden/work',NULL,818973,818973,0,220551,NULL,1,1,53,0,0,0,0,2400,0,3,0,1413120);
INSERT INTO process_rows VALUES(1102560126570870245,40,14,NULL,1372349232233244716,1714054769508042711,19399,9,65534,'exec','exit','final',5423310789585,5423311890197,1795178730609334402,0,NULL,0,0,X'68656164002d6e00330073756d7300',0,0,'/tmp/golden/work',0,1595182,1595182,0,0,NULL,1,0,99,0,0,4096,0,4030,50,10,1,1363968);
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
CREATE TABLE cgroups (
  id                INTEGER NOT NULL PRIMARY KEY, -- id; hash of host, boot and cgroup id; derived
  rev               INTEGER NOT NULL, -- count; revision of this row; correlator
  cgroup_id         INTEGER NOT NULL, -- id; kernfs id, hierarchy id in the top byte; cgroup.kn.id
  path              TEXT NOT NULL -- text; path in its hierarchy; cgroup.kn walked to the root
) STRICT;
INSERT INTO cgroups VALUES(4531099122104722317,2,288230376151718148,'/golden');
CREATE TABLE stream (
  id                INTEGER NOT NULL PRIMARY KEY CHECK (id = 1), -- count; always 1; schema
  boot_id           TEXT NOT NULL, -- text; boot that the ring belongs to; hello
  ring_epoch        INTEGER NOT NULL, -- count; ring that the offset belongs to; hello
  ring_offset       INTEGER NOT NULL, -- bytes; everything before is in this store; ring
  rev               INTEGER NOT NULL, -- count; highest revision given out; correlator
  committed_boot_ns INTEGER NOT NULL, -- ns, boot clock; latest event committed; event
  committed_unix_ns INTEGER NOT NULL -- ns; wall clock of the last commit; CLOCK_REALTIME
) STRICT;
INSERT INTO stream VALUES(1,'00000000-0000-4000-8000-000000000000',-4579059650283004329,13569,40,5426261847581,1);
CREATE TABLE checkpoints (
  process_id        INTEGER NOT NULL PRIMARY KEY, -- id; processes.id; derived
  state             BLOB NOT NULL -- msgpack; correlator/checkpoint_fields.h; correlator
) STRICT;
CREATE INDEX runs_by_begin ON runs (started_unix_ns);
CREATE INDEX tasks_by_run ON tasks (run_id);
CREATE INDEX tools_by_task ON tools (task_id);
CREATE INDEX images_by_text ON images (path, program, reason, rule, role);
CREATE INDEX process_rows_by_tool ON process_rows (tool_id, image_id);
CREATE INDEX process_rows_living ON process_rows (id) WHERE end_boot_ns IS NULL;
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
  LEFT JOIN tools t ON t.id = p.tool_id
;
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
CREATE INDEX incidents_by_run ON incidents (run_id);
CREATE VIEW standing_runs AS
  SELECT r.*, h.hostname AS host, r.end_boot_ns - r.begin_boot_ns AS wall_ns
    FROM runs r LEFT JOIN hosts h ON h.id = r.host_id
   WHERE r.process_count > 0;
CREATE VIEW standing_tasks AS
  SELECT *, end_boot_ns - begin_boot_ns AS wall_ns FROM tasks
   WHERE merged_into_id IS NULL AND process_count > 0;
CREATE VIEW standing_tools AS
  SELECT *, end_boot_ns - begin_boot_ns AS wall_ns FROM tools WHERE process_count > 0;
COMMIT;
PRAGMA application_id = 1414677330;
PRAGMA user_version = 1;
