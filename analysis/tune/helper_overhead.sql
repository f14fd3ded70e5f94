-- title: How long did tasks copy, compress and search instead of computing?
-- explanation: Programs that copy, search, compress or decompress what others work on (cp, cat, mv, zcat, grep, gzip, bgzip,
--   pigz, xz, zstd, tar), while no other tool of the same task was running. In a pipe they run beside the tool that they feed,
--   and do not count; nor does what is a task of its own.
-- finding: tune
-- parameter: run_id run = latest; the run
-- parameter: least_share share = 10%; minimum share of their time in the run's wall time; source: our proposal
-- parameter: least_ns duration = 1s; minimum time of all of a name
-- column: task_id id; a task that waited for it
-- column: name text; the program
-- column: process_count count; how many times it was started
-- column: wait_ns duration; the time in which only it ran, all tasks
-- column: read_bytes bytes; what it read, pipes and page cache included
-- column: saved_ns duration; the same for this task
-- subject: name
-- impact: wall = saved_ns
-- sentence: {process_count} × {name} ran {wait_ns} while the rest of the task waited ({read_bytes} read)
-- advice: Pipe the data to the program that needs them, so that both run at the same time.
WITH run AS (
  SELECT wall_ns AS run_wall_ns
    FROM standing_runs
   WHERE host_id = :host_id AND id = :run_id AND wall_ns > 0
), tool AS (
  SELECT id, task_id AS own_task_id, count(*) OVER (PARTITION BY task_id) AS beside_count, name AS tool_name, wall_ns AS tool_wall_ns,
         process_count AS tool_process_count, rchar_bytes AS tool_read_bytes, begin_boot_ns AS tool_begin_ns, end_boot_ns AS tool_end_ns,
         max(end_boot_ns) OVER (PARTITION BY task_id ORDER BY begin_boot_ns, id
                                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_end_ns,
         min(begin_boot_ns) OVER (PARTITION BY task_id ORDER BY begin_boot_ns, id
                                  ROWS BETWEEN 1 FOLLOWING AND 1 FOLLOWING) AS next_begin_ns
    FROM standing_tools
   WHERE host_id = :host_id AND role IN ('tool', 'helper', 'interpreter') AND end_boot_ns IS NOT NULL
     AND task_id IN (SELECT id FROM tasks WHERE host_id = :host_id AND run_id = :run_id)
), serving AS (
  SELECT id, own_task_id, tool_name, tool_wall_ns, tool_read_bytes, tool_process_count
    FROM tool
   WHERE beside_count > 1
     AND tool_name IN ('cp', 'mv', 'cat', 'dd', 'split', 'grep', 'egrep', 'fgrep', 'zgrep', 'sed', 'cut', 'zcat', 'bzcat', 'xzcat',
                       'zstdcat', 'gzip', 'gunzip', 'bgzip', 'pigz', 'unpigz', 'bzip2', 'pbzip2', 'xz', 'unxz', 'zstd', 'unzstd',
                       'lz4', 'tar', 'unzip', 'zip')
     AND (before_end_ns IS NULL OR before_end_ns <= tool_begin_ns + 0.1 * tool_wall_ns)
     AND (next_begin_ns IS NULL OR next_begin_ns >= tool_end_ns - 0.1 * tool_wall_ns)
), total AS (
  SELECT tool_name AS total_name, sum(tool_process_count) AS all_count, sum(tool_wall_ns) AS all_wall_ns,
         sum(tool_read_bytes) AS all_read_bytes
    FROM serving
   GROUP BY tool_name
)
SELECT serving.own_task_id AS task_id, serving.tool_name AS name, total.all_count AS process_count,
       total.all_wall_ns AS wait_ns, total.all_read_bytes AS read_bytes, serving.tool_wall_ns AS saved_ns
  FROM serving JOIN total ON total.total_name = serving.tool_name
               CROSS JOIN run
 WHERE total.all_wall_ns >= :least_share * run.run_wall_ns AND total.all_wall_ns >= :least_ns
 ORDER BY wait_ns DESC, name, task_id, serving.id;
