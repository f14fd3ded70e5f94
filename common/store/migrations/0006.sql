-- The mount namespace of a container, in addition to its PID namespace.

ALTER TABLE containers ADD COLUMN mount_namespace INTEGER; -- inode; mount namespace of the same process as pid_namespace, NULL: it has no pid namespace of its own; task.nsproxy
