-- Composes the statement that puts a row of a table, from those of the given columns that the table has; a parameter is the
-- place of its column. In the order of the table, which saves SQLite a copy of each value. A loss is reported in increments
-- as it occurs: its row is their sum. A host was last seen when it was last written: a clock that was ahead is overwritten. A row
-- keeps the day of its start: the lake organizes its rows by days (datalake/generate). Within it the start moves with
-- begin_boot_ns, since readers take the one for the other; no other time is read with unix_ns, so it stays.
SELECT 'INSERT INTO ' || :table || ' (' || group_concat(name, ', ') || ') VALUES (' || group_concat('?' || place, ', ')
    || ') ON CONFLICT (' || :key || ') DO UPDATE SET '
    || group_concat(name || ' = ' || CASE
         WHEN :table = 'losses' AND name = 'lost_count' THEN 'lost_count + excluded.lost_count'
         WHEN name = 'first_seen_unix_ns' THEN 'min(first_seen_unix_ns, excluded.first_seen_unix_ns)'
         WHEN name = 'started_unix_ns' THEN
           'CASE WHEN started_unix_ns = 0 OR excluded.started_unix_ns = 0
                 THEN max(started_unix_ns, excluded.started_unix_ns)
                 ELSE min(max(excluded.started_unix_ns, started_unix_ns - started_unix_ns % 86400000000000),
                          started_unix_ns - started_unix_ns % 86400000000000 + 86399999999999) END'
         ELSE 'excluded.' || name END, ', ')
         FILTER (WHERE NOT instr(', ' || :key || ',', ', ' || name || ',') AND name <> 'unix_ns')
  FROM (SELECT name, length(before) - length(replace(before, ',', '')) AS place
          FROM (SELECT cid, name, substr(', ' || :columns, 1, instr(', ' || :columns || ',', ', ' || name || ',')) AS before
                  FROM pragma_table_info(:table))
         WHERE before <> '' ORDER BY cid);
