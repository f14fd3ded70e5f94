/* Identity and location of a process: ids, terminal, pipes, paths. */
#pragma once

#define PATH_DEPTH_MAX 64 /* names and mounts together */

static __always_inline void image_read(struct image_key *image, struct task_struct *task, const bool is_computed)
{
	image->pid = FIELD(task, tgid);
	image->exec_id = exec_id_read(task, is_computed);
	struct task_struct *leader = FIELD(task, group_leader);
	image->start_boot_ns = start_read(leader, is_computed);
}

static __always_inline void header_fill(struct record_header *header, struct event *event, __u32 type, __u32 size)
{
	header->type = type;
	header->size = size;
	header->boot_ns = event->now_boot_ns;
	image_read(&header->image, event->task, false);
}

/* Reserve a fixed-size record in the ring. Returns NULL if there is no room; the loss is counted. */
static __always_inline void *event_reserve(struct event *event, __u32 type, const __u64 size)
{
	struct record_header *header = bpf_ringbuf_reserve(&ring, size, 0);

	if (header) {
		header_fill(header, event, type, size);
	} else {
		cgroup_ref_find(&event->cgroup, event->task);
		count_loss(type, event->cgroup.id, event->now_boot_ns);
	}
	return header;
}

/* Process group, in the initial pid namespace. */
#define PGID(task) ((task)->signal->pids[PIDTYPE_PGID]->numbers[0].nr)

#define KERNEL_THREAD_FLAG(task) ((task)->flags & PF_KTHREAD ? RECORD_KERNEL_THREAD : 0)

static __always_inline __u32 pid_namespace_of(struct task_struct *task)
{
	struct pid *pid = task->thread_pid;

	if (!pid)
		return 0; /* reaped */
	__u32 level = pid->level;
	struct upid *innermost = &pid->numbers[level];
	struct pid_namespace *namespace = READ(innermost, ns);

	return READ(namespace, ns.inum);
}

/* Controlling terminal, encoded as in /proc/PID/stat. */
static __always_inline __u32 tty_of(struct task_struct *task)
{
	struct tty_struct *tty = task->signal->tty;

	if (!tty)
		return 0;
	__u32 minor = tty->driver->minor_start + tty->index;
	return (minor & 0xff) | tty->driver->major << 8 | (minor & ~0xffU) << 12;
}

/* Returns the inode number of a pipe or FIFO, else 0. */
static __always_inline __u32 pipe_of(struct file *file)
{
	struct inode *inode = READ(file, f_inode);
	bool is_pipe = (READ(inode, i_mode) & S_IFMT) == S_IFIFO;

	return is_pipe ? READ(inode, i_ino) : 0;
}

/* Whether descriptor 0, if open, is something else than the controlling terminal. */
static __always_inline __u32 stdin_flag(struct file *file, __u32 tty)
{
	struct inode *inode = READ(file, f_inode);
	__u32 major = READ(inode, i_rdev) >> MINOR_BITS;
	bool is_terminal = (READ(inode, i_mode) & S_IFMT) == S_IFCHR &&
			   (major == (tty >> 8 & 0xfff) || major == TTY_AUXILIARY_MAJOR);

	return file && !is_terminal ? RECORD_STDIN_ELSEWHERE : 0;
}

#define QUOTA_NONE (~0ULL) /* RUNTIME_INF */

/* Thousandths of a processor that this task may use: the least of its affinity and the CPU quotas from
 * its cgroup up. The root has no quota. */
static __always_inline __u32 core_limit_of(struct task_struct *task)
{
	struct task_group *parent, *group = (void *)SUBSYSTEM(task->cgroups, cpu_cgrp_id);
	__u64 quota, period, limit = (__u64)task->nr_cpus_allowed * 1000;

	if (!group || !bpf_core_field_exists(group->cfs_bandwidth.quota))
		return limit;
	for (loop_index i = 0; i < CGROUP_DEPTH_MAX; i++) {
		parent = READ(group, parent);
		if (!parent)
			break;
		quota = READ(group, cfs_bandwidth.quota);
		period = READ(group, cfs_bandwidth.period);
		if (quota != QUOTA_NONE && period && quota * 1000 / period < limit)
			limit = quota * 1000 / period;
		group = parent;
	}
	return limit;
}

static __always_inline void context_read(struct record_context *context, struct event *event)
{
	struct task_struct *task = event->task;
	struct file *first[2] = {};

	if (task->files)
		bpf_probe_read_kernel(first, sizeof(first), task->files->fdt->fd);
	image_read(&context->parent, task->real_parent, false);
	context->cgroup_id = event->cgroup.id;
	context->pid_namespace = pid_namespace_of(task);
	context->mount_namespace = task->nsproxy ? task->nsproxy->mnt_ns->ns.inum : 0;
	context->uid = task->cred->uid.val;
	context->gid = task->cred->gid.val;
	context->core_limit_milli = core_limit_of(task);
	context->pgid = PGID(task);
	context->tty = tty_of(task);
	context->stdin_pipe = pipe_of(first[0]);
	context->stdout_pipe = pipe_of(first[1]);
	context->flags = RECORD_CORE_LIMIT | KERNEL_THREAD_FLAG(task) | stdin_flag(first[0], context->tty);
}

struct path_walk {
	struct dentry *dentry, *root;
	struct mount *mount, *root_mount;
	char *text;
	__u32 used;
	bool whole;
};

/* Add one name, or step from the root of a mount to its mount point. Returns 1 after the last step. */
static __always_inline long path_walk_step(__u32 index, struct path_walk *walk)
{
	struct dentry *dentry = walk->dentry, *parent = READ(dentry, d_parent);
	struct mount *mount = walk->mount;
	__u64 used = bounded(walk->used, RECORD_CWD_MAX);

	walk->whole = dentry == walk->root && mount == walk->root_mount;
	if (walk->whole)
		return 1;
	if (dentry == parent || dentry == READ(mount, mnt.mnt_root)) {
		walk->dentry = READ(mount, mnt_mountpoint);
		walk->mount = READ(mount, mnt_parent);
		walk->whole = walk->mount == mount;
		return walk->whole;
	}
	used += bounded(bpf_probe_read_kernel_str(walk->text + used, TEXT_STEP, READ(dentry, d_name.name)), TEXT_STEP);
	if (used > RECORD_CWD_MAX)
		return 1;
	walk->used = used;
	walk->dentry = parent;
	return 0;
}

#define MOUNT_OF(vfsmount) ((struct mount *)((void *)(vfsmount)-bpf_core_field_offset(struct mount, mnt)))

/* Write the names from `at` up to the root of `fs`, or to the topmost mount, each
 * NUL-terminated; one empty name for the root itself. Writes at most TEXT_STEP bytes beyond
 * RECORD_CWD_MAX. Returns the size; if the path is too long or deep, that of the names which fit, and
 * sets `flag`. */
static SUBPROGRAM __u32 path_read(char *text, struct path *at, struct fs_struct *fs, struct record_context *context,
				  __u32 flag)
{
	struct path_walk walk = {
		.text = text,
		.dentry = READ(at, dentry),
		.mount = MOUNT_OF(READ(at, mnt)),
		.root = READ(fs, root.dentry),
		.root_mount = MOUNT_OF(READ(fs, root.mnt)),
	};

	text[0] = '\0';
	LOOP(PATH_DEPTH_MAX, path_walk_step, &walk);
	if (!walk.whole)
		context->flags |= flag;
	return walk.used || !walk.whole ? walk.used : 1;
}
