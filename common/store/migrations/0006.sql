-- Of a container's namespaces the one of its mounts too, and not of its processes alone.

ALTER TABLE containers ADD COLUMN mount_namespace INTEGER; -- inode; mount namespace of the same process as pid_namespace, NULL: it has no pid namespace of its own; task.nsproxy
