-- title: Which tools did a run spend its time on?
-- explanation: All tools of the run of the same name together, whatever task they were in. Waits are those
--   of all threads added up: they may be longer than the run.
-- parameter: run_id run = latest; the run
-- column: name text; the tool
-- column: task_count count; tasks that used it
-- column: process_count count; processes of it
-- column: cpu_ns duration; on processors
-- column: cpu_share share; of what the whole run used of processors
-- column: run_delay_ns duration; waiting for a processor
-- column: block_io_delay_ns duration; waiting for storage, unknown without delay accounting
-- column: memory_delay_ns duration; waiting for memory, unknown without delay accounting
-- column: peak_rss_bytes bytes; the most memory that one process had
-- column: read_bytes bytes; fetched from storage
-- column: write_bytes bytes; written for storage
WITH total AS (
  SELECT name AS tool_name, count(*) AS task_count, sum(process_count) AS process_count, sum(cpu_ns) AS cpu_ns,
         sum(run_delay_ns) AS run_delay_ns, sum(block_io_delay_ns) AS block_io_delay_ns,
         sum(memory_delay_ns) AS memory_delay_ns, max(peak_rss_bytes) AS peak_rss_bytes,
         sum(read_bytes) AS read_bytes, sum(write_bytes) AS write_bytes
    FROM standing_tools
   WHERE host_id = :host_id
     AND task_id IN (SELECT id FROM tasks WHERE host_id = :host_id AND run_id = :run_id)
   GROUP BY name
), whole AS (
  SELECT sum(cpu_ns) AS run_cpu_ns FROM total
)
SELECT total.tool_name AS name, total.task_count AS task_count, total.process_count AS process_count,
       total.cpu_ns AS cpu_ns, 1.0 * total.cpu_ns / nullif(whole.run_cpu_ns, 0) AS cpu_share,
       total.run_delay_ns AS run_delay_ns, total.block_io_delay_ns AS block_io_delay_ns,
       total.memory_delay_ns AS memory_delay_ns, total.peak_rss_bytes AS peak_rss_bytes,
       total.read_bytes AS read_bytes, total.write_bytes AS write_bytes
  FROM total CROSS JOIN whole
 ORDER BY total.cpu_ns DESC NULLS LAST, total.tool_name;
