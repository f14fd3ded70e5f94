-- How the host was long ago.
DELETE FROM host_samples WHERE unix_ns < :before_unix_ns AND rev <= :kept_rev;
