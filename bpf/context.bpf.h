/* Who and where a process is: ids, paths, arguments. */
#ifndef TRACER_BPF_CONTEXT_BPF_H
#define TRACER_BPF_CONTEXT_BPF_H

#define PATH_DEPTH_MAX 64 /* names and mounts */

static __always_inline void image_read(struct image_key *image, struct task_struct *task)
{
	image->pid = task->tgid;
	image->exec_id = task->self_exec_id;
	image->start_boot_ns = task->group_leader->start_boottime;
}

static __always_inline void header_fill(struct record_header *header, struct event *event,
					__u32 type, __u32 size)
{
	header->type = type;
	header->size = size;
	header->boot_ns = event->now_boot_ns;
	image_read(&header->image, event->task);
}

/* Room for a record of fixed size; NULL: lost, and counted. */
static __always_inline void *event_reserve(struct event *event, __u32 type, const __u64 size)
{
	struct record_header *header = bpf_ringbuf_reserve(&ring, size, 0);

	if (header) {
		header_fill(header, event, type, size);
	} else {
		place_find(&event->place, event->task);
		count_loss(type, event->place.id, event->now_boot_ns);
	}
	return header;
}

/* Session or process group, in the initial pid namespace. */
#define GROUP_ID(task, kind) ((task)->signal->pids[kind]->numbers[0].nr)

#define KERNEL_THREAD_FLAG(task) ((task)->flags & PF_KTHREAD ? RECORD_KERNEL_THREAD : 0)

static __always_inline __u32 pid_namespace_of(struct task_struct *task)
{
	struct pid *pid = task->thread_pid;
	struct pid_namespace *namespace = NULL;

	if (!pid)
		return 0; /* reaped */
	__u32 level = pid->level;

	bpf_core_read(&namespace, sizeof(namespace), &pid->numbers[level].ns);
	return BPF_CORE_READ(namespace, ns.inum);
}

/* As /proc/PID/stat shows it. */
static __always_inline __u32 tty_of(struct task_struct *task)
{
	struct tty_struct *tty = task->signal->tty;

	if (!tty)
		return 0;
	__u32 minor = tty->driver->minor_start + tty->index;
	return (minor & 0xff) | tty->driver->major << 8 | (minor & ~0xffU) << 12;
}

/* Inode, if it is a pipe or FIFO. */
static __always_inline __u32 pipe_of(struct file *file)
{
	struct inode *inode = BPF_CORE_READ(file, f_inode);
	bool is_pipe = (BPF_CORE_READ(inode, i_mode) & S_IFMT) == S_IFIFO;

	return is_pipe ? BPF_CORE_READ(inode, i_ino) : 0;
}

static __always_inline void context_read(struct record_context *context, struct event *event)
{
	struct task_struct *task = event->task;
	struct file *first[2] = {};

	if (task->files)
		bpf_probe_read_kernel(first, sizeof(first), task->files->fdt->fd);
	image_read(&context->parent, task->real_parent);
	context->cgroup_id = event->place.id;
	context->pid_namespace = pid_namespace_of(task);
	context->mount_namespace = task->nsproxy ? task->nsproxy->mnt_ns->ns.inum : 0;
	context->uid = task->cred->uid.val;
	context->gid = task->cred->gid.val;
	context->sid = GROUP_ID(task, PIDTYPE_SID);
	context->pgid = GROUP_ID(task, PIDTYPE_PGID);
	context->tty = tty_of(task);
	context->stdin_pipe = pipe_of(first[0]);
	context->stdout_pipe = pipe_of(first[1]);
	context->flags = KERNEL_THREAD_FLAG(task);
}

struct path_walk {
	char *text;
	struct dentry *dentry;
	struct vfsmount *mnt;
	struct dentry *mnt_root;
	struct dentry *root;
	struct vfsmount *root_mnt;
	__u32 used;
	bool whole;
};

/* One name, or from the root of a mount to where it is mounted. 1: that was the last. */
static long path_walk_step(__u32 index, struct path_walk *walk)
{
	struct dentry *dentry = walk->dentry, *parent = BPF_CORE_READ(dentry, d_parent);
	__u64 used = bounded(walk->used, RECORD_CWD_MAX - 1);

	if (dentry == walk->mnt_root || dentry == parent) {
		struct mount *mount = (void *)walk->mnt - bpf_core_field_offset(struct mount, mnt);
		struct mount *above = BPF_CORE_READ(mount, mnt_parent);

		walk->whole = !above || above == mount || !dentry;
		walk->dentry = BPF_CORE_READ(mount, mnt_mountpoint);
		walk->mnt = &above->mnt;
		walk->mnt_root = BPF_CORE_READ(above, mnt.mnt_root);
	} else {
		long size = bpf_probe_read_kernel_str(walk->text + used, TEXT_STEP,
						      BPF_CORE_READ(dentry, d_name.name));

		walk->used = size > 0 && size <= TEXT_STEP ? used + size : used;
		walk->dentry = parent;
	}
	walk->whole |= walk->dentry == walk->root && walk->mnt == walk->root_mnt;
	return walk->whole || walk->used >= RECORD_CWD_MAX;
}

/* The names from `at` up to the root that `fs` has, or to the top of its mounts, each
 * ended by NUL; one empty name for the root itself. Writes at most TEXT_STEP bytes
 * above RECORD_CWD_MAX and returns the size, 0 where the path is too long or deep. */
static __noinline __u32 path_read(char *text, struct path *at, struct fs_struct *fs)
{
	struct vfsmount *mnt = BPF_CORE_READ(at, mnt);
	struct path_walk walk = {
		.text = text,
		.dentry = BPF_CORE_READ(at, dentry),
		.mnt = mnt,
		.mnt_root = BPF_CORE_READ(mnt, mnt_root),
		.root = BPF_CORE_READ(fs, root.dentry),
		.root_mnt = BPF_CORE_READ(fs, root.mnt),
	};

	walk.whole = walk.dentry == walk.root && walk.mnt == walk.root_mnt;
	if (!walk.whole)
		bpf_loop(PATH_DEPTH_MAX, path_walk_step, &walk, 0);
	if (!walk.whole || walk.used > RECORD_CWD_MAX)
		return 0;
	if (walk.used == 0) {
		text[0] = '\0';
		return 1;
	}
	return walk.used;
}

/* The same as a part of the record's text: too long sets a flag. */
static __always_inline __u64 path_text(char *text, struct path *at, struct fs_struct *fs,
				       struct record_context *context)
{
	__u64 size = bounded(path_read(text, at, fs), RECORD_CWD_MAX);

	if (size == 0)
		context->flags |= RECORD_PATH_TRUNCATED;
	return size;
}

#endif
