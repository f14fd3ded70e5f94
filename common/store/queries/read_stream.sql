-- The stream position at the last commit.
SELECT boot_id, ring_epoch, ring_offset, rev, committed_boot_ns, committed_unix_ns FROM stream;
