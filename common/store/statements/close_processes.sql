-- Nobody saw how what was alive at :boot_ns ended.
UPDATE process_rows SET rev = next_rev(), ended = 'lost', end_boot_ns = max(begin_boot_ns, :boot_ns)
 WHERE end_boot_ns IS NULL;
