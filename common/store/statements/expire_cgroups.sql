-- Paths of cgroups that nobody can ask for any more, a bounded number at a time. More than 20,000
-- others were told of or used since: the kernel side, which remembers 8,192, tells of these anew.
DELETE FROM cgroups
 WHERE id IN (SELECT id FROM cgroups ORDER BY rev
               LIMIT (SELECT max(0, min(10000, count(*) - 20000)) FROM cgroups));
