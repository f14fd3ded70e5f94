-- The stream position, in the same transaction as the events up to it.
INSERT INTO stream (id, boot_id, ring_epoch, ring_offset, rev, committed_boot_ns, committed_unix_ns)
VALUES (1, :boot_id, :ring_epoch, :ring_offset, :rev, :committed_boot_ns, :committed_unix_ns)
    ON CONFLICT (id) DO UPDATE SET boot_id = excluded.boot_id, ring_epoch = excluded.ring_epoch,
       ring_offset = excluded.ring_offset, rev = excluded.rev,
       committed_boot_ns = excluded.committed_boot_ns,
       committed_unix_ns = excluded.committed_unix_ns;
