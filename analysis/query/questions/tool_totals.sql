-- title: Which tools did a run spend its time on?
-- explanation: Totals per tool name across all tasks of the run. Wait times are summed over all threads
--   and can exceed the duration of the run.
-- parameter: run_id run = latest; the run
-- column: name text; the tool
-- column: task_count count; tasks that used it
-- column: process_count count; processes of the tool
-- column: cpu_ns duration; CPU time
-- column: cpu_share share; share of the CPU time of the whole run
-- column: run_delay_ns duration; time waiting for a processor
-- column: block_io_delay_ns duration; time waiting for storage, unknown without delay accounting
-- column: memory_delay_ns duration; time waiting for memory, unknown without delay accounting
-- column: peak_rss_bytes bytes; peak memory of any process
-- column: gpu_busy_ns duration?; time that GPUs worked, as a sampler reports it
-- column: gpu_peak_bytes bytes?; largest GPU memory of any process
-- column: read_bytes bytes; bytes read from storage
-- column: write_bytes bytes; bytes written to storage
WITH total AS (
  SELECT name AS tool_name, count(*) AS task_count, sum(process_count) AS process_count, sum(cpu_ns) AS cpu_ns,
         sum(run_delay_ns) AS run_delay_ns, sum(block_io_delay_ns) AS block_io_delay_ns,
         sum(memory_delay_ns) AS memory_delay_ns, max(peak_rss_bytes) AS peak_rss_bytes,
         sum(gpu_busy_ns) AS gpu_busy_ns, max(gpu_peak_bytes) AS gpu_peak_bytes,
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
       total.gpu_busy_ns AS gpu_busy_ns, total.gpu_peak_bytes AS gpu_peak_bytes,
       total.read_bytes AS read_bytes, total.write_bytes AS write_bytes
  FROM total CROSS JOIN whole
 ORDER BY total.cpu_ns DESC NULLS LAST, total.tool_name;
