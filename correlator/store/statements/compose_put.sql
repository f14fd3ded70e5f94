-- Composes the statement that puts a row of a table. A loss is reported in increments as it occurs: its row is their sum.
-- A host is seen by several recordings, in any order, that are written to one store. A row keeps the day of its start:
-- the lake organizes its rows by days (datalake/generate). Within it the start moves with begin_boot_ns, since readers
-- take the one for the other; no other time is read with unix_ns, so it stays.
SELECT 'INSERT INTO ' || :table || ' (' || :columns || ') VALUES (:' || replace(:columns, ', ', ', :')
    || ') ON CONFLICT (' || :key || ') DO UPDATE SET '
    || group_concat(name || ' = ' || CASE
         WHEN :table = 'losses' AND name = 'lost_count' THEN 'lost_count + excluded.lost_count'
         WHEN name = 'first_seen_unix_ns' THEN 'min(first_seen_unix_ns, excluded.first_seen_unix_ns)'
         WHEN name = 'last_seen_unix_ns' THEN 'max(last_seen_unix_ns, excluded.last_seen_unix_ns)'
         WHEN name = 'started_unix_ns' THEN
           'CASE WHEN started_unix_ns = 0 OR excluded.started_unix_ns = 0
                 THEN max(started_unix_ns, excluded.started_unix_ns)
                 ELSE min(max(excluded.started_unix_ns, started_unix_ns - started_unix_ns % 86400000000000),
                          started_unix_ns - started_unix_ns % 86400000000000 + 86399999999999) END'
         ELSE 'excluded.' || name END, ', ')
  FROM pragma_table_info(:table)
 WHERE instr(', ' || :columns || ',', ', ' || name || ',')
   AND NOT instr(', ' || :key || ',', ', ' || name || ',') AND name <> 'unix_ns';
