-- The last revision of the next step: up to there no table has more than so many rows, so that a
-- step is bounded. Revisions are in the order in which rows were last written. Of runs fewer: each
-- takes with it all that is in it.
SELECT min(:end_rev,
  coalesce((SELECT rev FROM runs WHERE rev > :first_rev ORDER BY rev LIMIT 1 OFFSET :row_count / 10), :end_rev),
  coalesce((SELECT rev FROM process_rows WHERE rev > :first_rev ORDER BY rev LIMIT 1 OFFSET :row_count), :end_rev),
  coalesce((SELECT rev FROM samples WHERE rev > :first_rev ORDER BY rev LIMIT 1 OFFSET :row_count), :end_rev),
  coalesce((SELECT rev FROM host_samples WHERE rev > :first_rev ORDER BY rev LIMIT 1 OFFSET :row_count), :end_rev),
  coalesce((SELECT rev FROM incidents WHERE rev > :first_rev ORDER BY rev LIMIT 1 OFFSET :row_count), :end_rev),
  coalesce((SELECT rev FROM containers WHERE rev > :first_rev ORDER BY rev LIMIT 1 OFFSET :row_count), :end_rev));
