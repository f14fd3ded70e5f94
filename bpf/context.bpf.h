/* Who and where a process is: ids, paths, arguments. */
#ifndef TRACER_BPF_CONTEXT_BPF_H
#define TRACER_BPF_CONTEXT_BPF_H

#define PATH_DEPTH_MAX 48

static __always_inline void image_read(struct image_key *image, struct task_struct *task)
{
	image->pid = task->tgid;
	image->exec_id = task->self_exec_id;
	image->start_boot_ns = task->group_leader->start_boottime;
}

static __always_inline void header_fill(struct record_header *header, __u32 type, __u32 size,
					__u64 now_boot_ns, struct task_struct *task)
{
	header->type = type;
	header->size = size;
	header->boot_ns = now_boot_ns;
	image_read(&header->image, task);
}

static __always_inline __u32 group_id(struct task_struct *task, int kind)
{
	return BPF_CORE_READ(task, signal, pids[kind], numbers[0].nr);
}

static __always_inline __u32 pid_namespace_of(struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	__u32 level = BPF_CORE_READ(pid, level);
	struct pid_namespace *namespace = NULL;

	bpf_core_read(&namespace, sizeof(namespace), &pid->numbers[level].ns);
	return BPF_CORE_READ(namespace, ns.inum);
}

/* As /proc/PID/stat shows it. */
static __always_inline __u32 tty_of(struct task_struct *task)
{
	struct tty_struct *tty = BPF_CORE_READ(task, signal, tty);

	if (!tty)
		return 0;
	__u32 major = BPF_CORE_READ(tty, driver, major);
	__u32 minor = BPF_CORE_READ(tty, driver, minor_start) + BPF_CORE_READ(tty, index);
	return (minor & 0xff) | major << 8 | (minor & ~0xffU) << 12;
}

/* Inode of a pipe or FIFO at descriptor 0 or 1. */
static __always_inline __u32 pipe_of(struct task_struct *task, int descriptor)
{
	struct file **files = BPF_CORE_READ(task, files, fdt, fd), *file = NULL;

	if (bpf_probe_read_kernel(&file, sizeof(file), &files[descriptor]) || !file)
		return 0;
	struct inode *inode = BPF_CORE_READ(file, f_inode);
	if ((BPF_CORE_READ(inode, i_mode) & S_IFMT) != S_IFIFO)
		return 0;
	return BPF_CORE_READ(inode, i_ino);
}

static __always_inline void context_read(struct record_context *context, struct task_struct *task,
					 __u64 cgroup_id)
{
	image_read(&context->parent, task->real_parent);
	context->cgroup_id = cgroup_id;
	context->pid_namespace = pid_namespace_of(task);
	context->mount_namespace = BPF_CORE_READ(task, nsproxy, mnt_ns, ns.inum);
	context->uid = task->cred->uid.val;
	context->gid = task->cred->gid.val;
	context->sid = group_id(task, PIDTYPE_SID);
	context->pgid = group_id(task, PIDTYPE_PGID);
	context->tty = tty_of(task);
	context->stdin_pipe = pipe_of(task, 0);
	context->stdout_pipe = pipe_of(task, 1);
	context->flags = task->flags & PF_KTHREAD ? RECORD_KERNEL_THREAD : 0;
}

/* The names from `dentry` up to the root that `fs` has, or to the top of its mounts,
 * each ended by NUL: at most `max` bytes and TEXT_STEP more are written. Returns the
 * size, above `max` where the path did not fit. */
static __noinline __u32 path_read(char *text, struct path *at, struct fs_struct *fs, __u32 max)
{
	struct dentry *dentry = BPF_CORE_READ(at, dentry);
	struct dentry *root = BPF_CORE_READ(fs, root.dentry);
	struct vfsmount *mnt = BPF_CORE_READ(at, mnt), *root_mnt = BPF_CORE_READ(fs, root.mnt);
	struct dentry *mnt_root = BPF_CORE_READ(mnt, mnt_root);
	__u32 used = 0;

	for (int i = 0; i < PATH_DEPTH_MAX; i++) {
		if (!dentry || (dentry == root && mnt == root_mnt))
			return used;
		struct dentry *parent = BPF_CORE_READ(dentry, d_parent);
		if (dentry == mnt_root || dentry == parent) {
			struct mount *mount =
				(void *)mnt - bpf_core_field_offset(struct mount, mnt);
			struct mount *above = BPF_CORE_READ(mount, mnt_parent);
			if (!above || above == mount)
				return used;
			dentry = BPF_CORE_READ(mount, mnt_mountpoint);
			mnt = &above->mnt;
			mnt_root = BPF_CORE_READ(mnt, mnt_root);
			continue;
		}
		if (used >= RECORD_CWD_MAX)
			break;
		long size = bpf_probe_read_kernel_str(text + used, TEXT_STEP,
						      BPF_CORE_READ(dentry, d_name.name));
		if (size > 0 && size <= TEXT_STEP)
			used += size;
		dentry = parent;
	}
	return max + 1;
}

/* The same as a part of the record's text: its size, 0 and a flag where too long. */
static __always_inline __u32 path_text(char *text, struct path *at, struct fs_struct *fs,
				       struct record_context *context)
{
	__u32 size = path_read(text, at, fs, RECORD_CWD_MAX);

	if (size <= RECORD_CWD_MAX)
		return size;
	context->flags |= RECORD_PATH_TRUNCATED;
	return 0;
}

#endif
