/* The kernel side of Tracer: process events, from the scheduler's own tracepoints, and
 * running processes, from an iterator that the probe reads once per period.
 *
 * It watches fork, exec, exit and free of thread groups, signals that can end a process, and
 * (unless turned off) the lengths of what sockets send and receive; no system calls, context
 * switches or page faults. Figures are read from counters that the kernel keeps anyway. It
 * writes to a ring that the probe reads (probe/forward/ring.c), never to the traced process,
 * and reads only what kernel.h declares.
 *
 * The probe decides from the kernel's BTF which of the variants below is loaded
 * (probe/kernel.c).
 */
#include "kernel.h"

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "record.h"

#include "variants.bpf.h"

#include "maps.bpf.h"

#include "cgroup.bpf.h"
#include "context.bpf.h"
#include "counters.bpf.h"
#include "memory.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* What tells later how much of its memory the child does not share with its parent. Returns flags. */
static __always_inline __u32 fork_memory_fill(struct record_fork *record, struct task_struct *parent,
					      struct task_struct *child)
{
	struct signal_struct *signal = parent->signal;
	bool is_alone = signal->nr_threads == 1 && signal->sum_sched_runtime == 0;

	record->anon_kib = child->mm ? RSS_BYTES(child->mm, MM_ANONPAGES) >> 10 : 0;
	record->parent_shared_kib = parent->mm ? RSS_BYTES(parent->mm, MM_SHMEMPAGES) >> 10 : 0;
	record->parent_faults = is_alone ? parent->min_flt : 0;
	record->pad_end = 0;
	return is_alone ? RECORD_FORK_FAULTS : 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	struct scratch *scratch = scratch_of(SCRATCH_FORK);
	struct event event;

	child = LOOSE(child);
	if (child->pid != child->tgid || !scratch || !event_begin(&event, RECORD_FORK, child) || event.ignored)
		return 0;
	cgroup_announce(&event, scratch);
	struct record_fork *record = event_reserve(&event, RECORD_FORK, sizeof(*record));
	if (!record)
		return 0;
	image_read(&record->parent, child->real_parent, false);
	record->cgroup_id = event.cgroup.id;
	record->pad = 0;
	record->pgid = PGID(child);
	record->uid = child->cred->uid.val;
	record->flags = KERNEL_THREAD_FLAG(child) | fork_memory_fill(record, parent, child);
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	return 0;
}

static __always_inline void image_fill(struct record_exec *record, struct event *event, const __u32 type)
{
	header_fill(&record->header, event, type, 0);
	context_read(&record->context, event);
	counters_read(&record->counters, event->task, type, event->now_boot_ns);
	bpf_probe_read_kernel(record->comm, sizeof(record->comm), event->task->comm);
	record->filename_size = 0;
	record->cwd_size = 0;
	record->argv_size = 0;
}

/* Program, working directory and, for an exec, the arguments, which the kernel has laid out in one
 * piece. Reading the arguments of a running process (no `bprm`) may block for any length of time,
 * so they are left to the reader (probe/forward/arguments.h). Returns the size of the text. */
static __always_inline __u64 texts_fill(struct scratch *scratch, struct task_struct *task, const __u32 type,
					struct linux_binprm *bprm)
{
	struct record_exec *record = &scratch->exec;
	struct record_context *context = &record->context;
	struct mm_struct *mm = task->mm;
	struct fs_struct *fs = task->fs;
	__u64 used = 0, size;

	if (!mm || !fs)
		return 0;
	if (type == RECORD_EXEC) {
		used = bounded(bpf_probe_read_kernel_str(scratch->text, RECORD_FILENAME_MAX, bprm->filename),
			       RECORD_FILENAME_MAX);
		context->flags |= used == RECORD_FILENAME_MAX ? RECORD_PATH_TRUNCATED : 0;
		context->flags |= bprm->interp != bprm->filename ? RECORD_SCRIPT : 0;
	} else if (mm->exe_file) {
		used = bounded(path_read(scratch->text, &mm->exe_file->f_path, fs, context, RECORD_PATH_TRUNCATED),
			       RECORD_CWD_MAX);
	}
	record->filename_size = used;
	record->cwd_size = path_read(scratch->text + used, &fs->pwd, fs, context, RECORD_CWD_TRUNCATED);
	used += bounded(record->cwd_size, RECORD_CWD_MAX);

	void *arguments = (void *)mm->arg_start;
	/* During an exec the end may not be set yet; the environment follows the arguments. */
	size = mm->arg_end > mm->arg_start ? mm->arg_end - mm->arg_start : 0;
	if (size > RECORD_ARGV_MAX) {
		context->flags |= type == RECORD_EXEC ? RECORD_ARGV_TRUNCATED : 0;
		size = RECORD_ARGV_MAX;
	}
	size = bounded(size, RECORD_ARGV_MAX);
	if (size && (type != RECORD_EXEC || bpf_probe_read_user(scratch->text + used, size, arguments))) {
		context->flags |= RECORD_ARGV_UNKNOWN;
		size = 0;
	}
	record->argv_size = size;
	return used + size;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task, int old_pid, struct linux_binprm *bprm)
{
	struct scratch *scratch = scratch_of(SCRATCH_EXEC);
	struct event event;

	task = LOOSE(task);
	if (old_pid != task->pid)
		group_leader_replaced(task);
	if (!scratch || !event_begin(&event, RECORD_EXEC, task))
		return 0;
	struct record_exec *record = &scratch->exec;
	if (event.ignored) {
		header_fill(&record->header, &event, RECORD_IGNORED, 0);
		ring_send(&record->header, sizeof(record->header), event.cgroup.id);
		return 0;
	}
	cgroup_announce(&event, scratch);
	image_fill(record, &event, RECORD_EXEC);
	__u64 size = bounded(sizeof(*record) + texts_fill(scratch, task, RECORD_EXEC, bprm), sizeof(*scratch));
	if (size)
		ring_send(&record->header, size, event.cgroup.id);
	if (record->counters.valid & COUNTERS_PARTIAL)
		group_forget_missing(task);
	return 0;
}

#define IS_LIMITED(limit) ((limit) != ~0UL)

static __always_inline __u32 exit_flags(struct task_struct *task, __u32 type)
{
	const struct rlimit *limits = task->signal->rlim;
	struct task_struct *parent = task->real_parent;
	__u32 flags = task->signal->oom_mm ? RECORD_EXIT_OOM : 0;

	if (IS_LIMITED(limits[RLIMIT_AS].rlim_cur) || IS_LIMITED(limits[RLIMIT_DATA].rlim_cur))
		flags |= RECORD_EXIT_MEMORY_LIMIT;
	if (IS_LIMITED(limits[RLIMIT_FSIZE].rlim_cur))
		flags |= RECORD_EXIT_FILE_LIMIT;
	if (IS_LIMITED(limits[RLIMIT_CPU].rlim_max))
		flags |= RECORD_EXIT_CPU_LIMIT;
	if (type == RECORD_EXIT && parent->signal->nr_threads == 1 && parent->signal->sum_sched_runtime == 0)
		flags |= RECORD_EXIT_PARENT_READ | parent->ioac.rchar >> 10 << RECORD_EXIT_PARENT_READ_SHIFT;
	return flags;
}

static __always_inline void exit_send(struct task_struct *task, const __u32 type)
{
	struct signal_struct *signal = task->signal;
	struct event event;

	if (!event_begin(&event, type, task) || event.ignored)
		return;
	struct record_exit *record = event_reserve(&event, type, sizeof(*record));
	if (!record)
		return;
	counters_read(&record->counters, task, type, event.now_boot_ns);
	/* As wait4 returns it to the parent. */
	record->wait_status =
		signal->flags & SIGNAL_GROUP_EXIT ? signal->group_exit_code : task->group_leader->exit_code;
	record->flags = exit_flags(task, type);
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

/* Several threads that exit at once may all find that none is left, and all but the last may be gone
 * when the last one gets here: the first one sends. A group that never had a second thread, as the
 * sums of ended threads show, needs no entry for this. */
static __always_inline bool group_is_dead(struct task_struct *task)
{
	struct signal_struct *signal = task->signal;
	struct group *group;

	if (signal->live.counter > 0)
		return false;
	if (signal->nr_threads == 1 && signal->sum_sched_runtime == 0)
		return true;
	group = group_get(task);
	return !group || !EXCHANGE(&group->exited, 1);
}

/* Before 6.16 attached elsewhere: probe/kernel.c. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
	task = LOOSE(task);
	bool dead = group_is_dead(task);

	if (task->pid != task->tgid || !dead)
		group_keep_thread(task, bpf_ktime_get_boot_ns());
	if (dead) {
		exit_send(task, RECORD_EXIT);
		traffic_settle(task);
	}
	return 0;
}

SEC("tp_btf/sched_process_free")
int BPF_PROG(on_free, struct task_struct *task)
{
	task = LOOSE(task);
	struct image_key key = GROUP_KEY(task);

	if (task->pid != task->tgid)
		return 0;
	exit_send(task, RECORD_FINAL);
	if (group_find(task) && control_find())
		bpf_map_delete_elem(&groups, &key);
	return 0;
}

/* clang-format off */
enum {
	SIGHUP = 1, SIGINT = 2, SIGQUIT = 3, SIGILL = 4, SIGTRAP = 5, SIGABRT = 6, SIGBUS = 7, SIGFPE = 8,
	SIGKILL = 9, SIGUSR1 = 10, SIGSEGV = 11, SIGUSR2 = 12, SIGALRM = 14, SIGTERM = 15, SIGXCPU = 24,
	SIGXFSZ = 25, SIGSYS = 31,
	SIGNALS_TO_END = 1U << SIGHUP | 1U << SIGINT | 1U << SIGQUIT | 1U << SIGKILL |
			 1U << SIGTERM | 1U << SIGXCPU,
	SIGNALS_TO_TALK = 1U << SIGUSR1 | 1U << SIGUSR2 | 1U << SIGALRM | 1U << SIGXFSZ,
	SIGNALS_OF_FAULTS = 1U << SIGILL | 1U << SIGTRAP | 1U << SIGABRT | 1U << SIGBUS | 1U << SIGFPE |
			    1U << SIGSEGV | 1U << SIGSYS,
	SI_KERNEL = 0x80, SI_USER = 0, SI_QUEUE = -1, SI_TKILL = -6,
	TRACE_SIGNAL_DELIVERED = 0, TRACE_SIGNAL_LOSE_INFO = 4,
};
/* clang-format on */

static __always_inline bool signal_is_handled(struct task_struct *task, __u32 signal)
{
	/* A scalar to the verifier, which does not allow adding an unknown value to a pointer. */
	void *handlers = BPF_CORE_READ(task, sighand);
	struct k_sigaction *action = handlers + bpf_core_field_offset(struct sighand_struct, action) +
				     (signal - 1) * bpf_core_type_size(struct k_sigaction);

	return READ(action, sa.sa_handler) != NULL;
}

/* `info` may be a number instead of an address. 1 stands for the kernel itself, as for a terminal's
 * ^C. 0 stands for the current process, which sends to others, as when it writes to
 * cgroup.kill, or to itself for what it did, as when it exceeds its file size limit. `argument`
 * points to `info`: the verifier removes a check whether such a pointer is NULL. */
static __always_inline __s32 signal_code(const __u64 *argument, struct kernel_siginfo *info, bool is_own)
{
	__u64 number = 0;

	bpf_probe_read_kernel(&number, sizeof(number), argument);
	if (number > 1)
		return READ(info, si_code);
	return number == 1 || is_own ? SI_KERNEL : SI_USER;
}

static __always_inline __u32 uid_of(struct task_struct *task, const bool is_computed)
{
	const struct cred *cred = FIELD(task, cred);

	return FIELD(cred, uid.val);
}

/* Programs often use some signals to communicate: these are recorded only if they end the
 * process; signals of faults only if another process sent them. A signal from the kernel, including a timer's, is not attributed to the process
 * that happens to be running. */
SEC("tp_btf/signal_generate")
int BPF_PROG(on_signal, int signal, struct kernel_siginfo *info, struct task_struct *task, int group, int result)
{
	const bool is_computed = CURRENT_IS_COMPUTED;
	struct task_struct *sender = CURRENT_TASK();
	__u32 bit = signal < 32 ? 1U << signal : 0;
	struct event event;

	task = LOOSE(task);
	if ((result != TRACE_SIGNAL_DELIVERED && result != TRACE_SIGNAL_LOSE_INFO) ||
	    !(bit & SIGNALS_TO_END || (bit & SIGNALS_TO_TALK && !signal_is_handled(task, signal)) ||
	      (bit & SIGNALS_OF_FAULTS && FIELD(sender, tgid) != task->tgid)) ||
	    !event_begin(&event, RECORD_SIGNAL, task) || event.ignored)
		return 0;
	struct record_signal *record = event_reserve(&event, RECORD_SIGNAL, sizeof(*record));
	if (!record)
		return 0;
	record->code = signal_code(&ctx[1], info, FIELD(sender, tgid) == task->tgid);
	if (record->code == SI_USER || record->code == SI_QUEUE || record->code == SI_TKILL) {
		image_read(&record->sender, sender, is_computed);
		record->sender_uid = uid_of(sender, is_computed);
	} else {
		record->sender = (struct image_key){};
		record->sender_uid = 0;
	}
	record->signal = signal;
	record->flags = group ? RECORD_SIGNAL_GROUP : 0;
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	return 0;
}

#define AF_INET 2
#define AF_INET6 10
#define IPPROTO_TCP 6
#define IPPROTO_UDP 17
#define IPPROTO_MPTCP 262
#define MSG_PEEK 0x2
#define MSG_ERRQUEUE 0x2000 /* returns data that was sent */

static __always_inline bool is_network(struct sock *sock)
{
	__u16 family = sock->__sk_common.skc_family, protocol = sock->sk_protocol;

	return (family == AF_INET || family == AF_INET6) &&
	       (protocol == IPPROTO_TCP || protocol == IPPROTO_UDP || protocol == IPPROTO_MPTCP);
}

/* Both hooks exist since 6.3. Cheap, since messages are frequent: no event, two counters. */
SEC("tp_btf/sock_send_length")
int BPF_PROG(on_send, struct sock *sock, int length, int flags)
{
	if (length > 0 && is_network(sock))
		group_add_traffic(bpf_get_current_task_btf(), length, 0);
	return 0;
}

SEC("tp_btf/sock_recv_length")
int BPF_PROG(on_receive, struct sock *sock, int length, int flags)
{
	if (length > 0 && !(flags & (MSG_PEEK | MSG_ERRQUEUE)) && is_network(sock))
		group_add_traffic(bpf_get_current_task_btf(), 0, length);
	return 0;
}

/* Pads the record, so that the next one begins at a multiple of 8. */
static __always_inline long seq_send(struct bpf_iter_meta *meta, void *record, __u64 size)
{
	size = bounded((size + 7) & ~7ULL, sizeof(struct scratch));
	return size ? bpf_seq_write(meta->seq, record, size) : -1;
}

/* Samples of running processes, whenever the probe reads the iterator, with text if it asks for it.
 * If the buffer is full, the kernel discards what was written for this task and calls again; so a
 * cgroup counts as announced only once its sample is written; likewise what the memory cgroup holds. */
SEC("iter/task")
int sample_tasks(struct bpf_iter__task *context)
{
	struct scratch *scratch = scratch_of(SCRATCH_SAMPLE);
	struct task_struct *task = context->task;
	struct event event;
	__u64 size, announcement, session = context->meta->session_id;

	if (!task)
		return groups_sweep();
	task = LOOSE(task);
	if (!scratch || task->pid != task->tgid || !event_begin(&event, RECORD_SAMPLE, task) || event.ignored)
		return 0;
	announcement = cgroup_record_make(&event, scratch);
	if (announcement && seq_send(context->meta, scratch, announcement))
		return 0;
	memory_place_find(&scratch->place, task);
	size = memory_record_make(&event, scratch, session);
	if (size && seq_send(context->meta, scratch, size))
		return 0;
	struct record_exec *record = &scratch->exec;
	image_fill(record, &event, RECORD_SAMPLE);
	if (task->flags & PF_EXITING || task->exit_state)
		record->context.flags |= RECORD_EXITING;
	if (record->counters.uninterruptible_count >= MEMORY_STALL)
		record->context.flags |= RECORD_MEMORY_STALL;
	record->counters.uninterruptible_count %= MEMORY_STALL;
	size = sizeof(*record);
	if (event.control->sample_text && (__u32)task->tgid >= event.control->sample_text)
		size += texts_fill(scratch, task, RECORD_SAMPLE, NULL);
	record->header.size = size;
	if (seq_send(context->meta, scratch, size))
		return 0;
	if (announcement)
		cgroup_announced(&event);
	memory_set_known(&scratch->place, session);
	return 0;
}

/* Major numbers of the devices to report, written by the probe before a scan; 0 ends the list. */
volatile __u32 device_majors[DEVICE_MAJORS_MAX] = {};

static __always_inline int file_send(struct bpf_iter_meta *meta, struct task_struct *task, struct file *file)
{
	struct record_file record = {.position_bytes = file->f_pos, .size_bytes = file->f_inode->i_size};
	struct event event;

	if (file->f_mode & FMODE_WRITE || record.size_bytes < RECORD_FILE_LEAST || !record.position_bytes ||
	    record.position_bytes >= record.size_bytes || !event_begin(&event, RECORD_FILE, task) || event.ignored)
		return 0;
	header_fill(&record.header, &event, RECORD_FILE, sizeof(record));
	bpf_seq_write(meta->seq, &record, sizeof(record));
	return 0;
}

/* Scans the descriptors of running processes; reports device nodes in `device_majors`, and large files being read. */
SEC("iter/task_file")
int sample_files(struct bpf_iter__task_file *context)
{
	struct task_struct *task = context->task;
	struct file *file = context->file;
	struct record_device record = {};
	struct event event;

	if (!task || !file)
		return 0;
	struct inode *inode = file->f_inode;
	if ((inode->i_mode & S_IFMT) == S_IFREG)
		return file_send(context->meta, task, file);
	if ((inode->i_mode & S_IFMT) != S_IFCHR)
		return 0;
	record.major = inode->i_rdev >> MINOR_BITS;
	record.minor = inode->i_rdev & ((1U << MINOR_BITS) - 1);
	for (loop_index i = 0; i < DEVICE_MAJORS_MAX; i++) {
		if (device_majors[i] != record.major || !record.major)
			continue;
		if (!event_begin(&event, RECORD_DEVICE, task) || event.ignored)
			return 0;
		header_fill(&record.header, &event, RECORD_DEVICE, sizeof(record));
		bpf_seq_write(context->meta->seq, &record, sizeof(record));
		return 0;
	}
	return 0;
}
