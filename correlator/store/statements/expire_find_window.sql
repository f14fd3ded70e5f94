-- The last revision of the next step, chosen so that the number of rows per table, and so the
-- step, is bounded. Revisions are in the order in which rows were last written. The bound is lower for
-- runs, since each is deleted with all its parts.
SELECT min(:end_rev,
  coalesce((SELECT rev FROM runs WHERE rev > :first_rev ORDER BY rev LIMIT 1 OFFSET :row_count / 10), :end_rev),
  coalesce((SELECT rev FROM process_rows WHERE rev > :first_rev ORDER BY rev LIMIT 1 OFFSET :row_count), :end_rev),
  coalesce((SELECT rev FROM samples WHERE rev > :first_rev ORDER BY rev LIMIT 1 OFFSET :row_count), :end_rev),
  coalesce((SELECT rev FROM host_samples WHERE rev > :first_rev ORDER BY rev LIMIT 1 OFFSET :row_count), :end_rev),
  coalesce((SELECT rev FROM file_system_samples WHERE rev > :first_rev ORDER BY rev LIMIT 1 OFFSET :row_count), :end_rev),
  coalesce((SELECT rev FROM incidents WHERE rev > :first_rev ORDER BY rev LIMIT 1 OFFSET :row_count), :end_rev),
  coalesce((SELECT rev FROM containers WHERE rev > :first_rev ORDER BY rev LIMIT 1 OFFSET :row_count), :end_rev));
