-- title: Which hosts are there?
-- explanation: A store has one host, its own; a lake has all hosts that ship to it. A host that has not
--   been heard of for a long time may be off, or its probe may have stopped.
-- columns: hosts
-- column: id id; the host
-- column: hostname text; host name
-- column: cpu_count count; processors
-- column: memory_bytes bytes; main memory
-- column: os text; distribution
-- column: kernel text; kernel release
-- column: last_seen_unix_ns time; when it was last heard of
SELECT * FROM hosts
 ORDER BY hostname, id;
