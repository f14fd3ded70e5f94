-- Composes the statement that puts processes (processes.c) from the columns of their table, in its order,
-- which saves SQLite a copy of each value. The start time is never updated.
SELECT 'INSERT INTO process_rows SELECT ' || group_concat(name, ', ')
    || ' FROM given_processes WHERE true ON CONFLICT (id) DO UPDATE SET '
    || group_concat(name || ' = excluded.' || name, ', ') FILTER (WHERE name NOT IN ('id', 'started_unix_ns'))
  FROM pragma_table_info('process_rows');
