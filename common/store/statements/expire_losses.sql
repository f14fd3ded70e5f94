-- Losses that ended long ago.
DELETE FROM losses WHERE unix_ns + (last_boot_ns - first_boot_ns) < :before_unix_ns
   AND rev <= :kept_rev;
