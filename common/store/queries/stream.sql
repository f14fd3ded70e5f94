-- Where the stream stands: lag is the boot clock now less committed_boot_ns. No parameters.
SELECT boot_id, ring_epoch, ring_offset, rev, committed_boot_ns, committed_unix_ns FROM stream;
