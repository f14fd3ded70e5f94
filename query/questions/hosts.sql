-- title: Which hosts are there?
-- explanation: A store has one host, its own; a lake has all that ship to it. A host that has not
--   been heard of for long may be off, or its probe may have ended.
-- columns: hosts
-- column: id id; of the host
-- column: hostname text; its name
-- column: cpu_count count; processors
-- column: memory_bytes bytes; main memory
-- column: os text; distribution
-- column: kernel text; release of the kernel
-- column: last_seen_unix_ns time; when it was last heard of
SELECT * FROM hosts
 ORDER BY hostname, id;
