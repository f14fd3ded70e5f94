-- Paths of cgroups that can no longer be needed, a bounded number at a time. At least 20,000
-- others were reported or used since; the kernel side, which remembers 8,192, would report these again.
DELETE FROM cgroups
 WHERE id IN (SELECT id FROM cgroups ORDER BY rev
               LIMIT (SELECT max(0, min(10000, count(*) - 20000)) FROM cgroups));
