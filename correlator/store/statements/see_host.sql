-- A correlator writes seldom when it last saw its host; a copy of a run says when the run was copied.
UPDATE hosts SET last_seen_unix_ns = :unix_ns WHERE id = :id;
