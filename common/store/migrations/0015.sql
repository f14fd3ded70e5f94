-- How full the mounted file systems are.
CREATE TABLE file_system_samples (
  host_id           INTEGER NOT NULL, -- id; hosts.id; derived
  unix_ns           INTEGER NOT NULL, -- ns; wall clock when its server was asked; CLOCK_REALTIME
  mount_point       TEXT NOT NULL, -- text; where it is mounted, as the host itself sees it; /proc/self/mountinfo
  rev               INTEGER NOT NULL, -- count; revision of this row; correlator
  type              TEXT NOT NULL, -- text; kind of file system, such as ext4 or nfs4; /proc/self/mountinfo
  total_bytes       INTEGER, -- bytes; size, NULL: unknown, or no longer mounted; statfs
  available_bytes   INTEGER, -- bytes; what users without privileges can still write, NULL: as for total_bytes; statfs
  PRIMARY KEY (host_id, unix_ns, mount_point)
) STRICT, WITHOUT ROWID;
CREATE INDEX file_system_samples_by_rev ON file_system_samples (rev);
