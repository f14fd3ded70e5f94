/* The kernel's side of Tracer: what runs, told by the scheduler's own tracepoints
 * for processes, and what lives, told by an iterator once a period.
 *
 * It watches fork, exec, exit and free of thread groups and nothing hotter: no
 * syscall, no switch, no page fault. Figures are read from counters that the kernel
 * keeps anyway. It writes to a ring that the probe reads (probe/ring.c), never to
 * the traced process, and looks only at what kernel.h declares.
 *
 * Which of the variants below is loaded is decided by the probe from the kernel's
 * BTF (probe/kernel.c).
 */
#include "kernel.h"

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "record.h"

#include "maps.bpf.h"

#include "cgroup.bpf.h"
#include "counters.bpf.h"
#include "context.bpf.h"

char LICENSE[] SEC("license") = "GPL";

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	__u64 now = bpf_ktime_get_boot_ns();
	struct place place;

	if (child->pid != child->tgid)
		return 0;
	struct control *control = control_if_collecting(RECORD_FORK, now);
	struct scratch *scratch = scratch_of(SCRATCH_FORK);
	if (!control || !scratch)
		return 0;
	place_of(child, &place);
	if (process_is_ignored(control, child, &place))
		return 0;
	cgroup_announce(scratch, control, &place, now);

	struct record_fork *record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);
	if (!record)
		return count_loss(RECORD_FORK, place.id, now);
	header_fill(&record->header, RECORD_FORK, sizeof(*record), now, child);
	image_read(&record->parent, child->real_parent);
	record->cgroup_id = place.id;
	record->sid = GROUP_ID(child, PIDTYPE_SID);
	record->pgid = GROUP_ID(child, PIDTYPE_PGID);
	record->uid = child->cred->uid.val;
	record->flags = child->flags & PF_KTHREAD ? RECORD_KERNEL_THREAD : 0;
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	return 0;
}

/* All arguments in one read, as the kernel laid them out for the program. */
static __always_inline __u64 arguments_size(struct mm_struct *mm, struct record_context *context)
{
	__u64 size = mm->arg_end - mm->arg_start;

	if (size > RECORD_ARGV_MAX) {
		context->flags |= RECORD_ARGV_TRUNCATED;
		size = RECORD_ARGV_MAX;
	}
	return bounded(size, RECORD_ARGV_MAX);
}

static __always_inline void exec_fill(struct record_exec *record, struct task_struct *task,
				      __u32 type, __u64 cgroup_id, __u64 now)
{
	header_fill(&record->header, type, 0, now, task);
	context_read(&record->context, task, cgroup_id);
	bpf_probe_read_kernel(record->comm, sizeof(record->comm), task->comm);
	record->filename_size = 0;
	record->cwd_size = 0;
	record->argv_size = 0;
}

static __always_inline __u64 exec_texts(struct scratch *scratch, struct task_struct *task,
					struct linux_binprm *bprm)
{
	struct record_exec *record = &scratch->exec;
	struct mm_struct *mm = task->mm;
	__u64 used, size;

	used = bounded(bpf_probe_read_kernel_str(scratch->text, RECORD_FILENAME_MAX,
						 bprm->filename), RECORD_FILENAME_MAX);
	if (used == RECORD_FILENAME_MAX)
		record->context.flags |= RECORD_PATH_TRUNCATED;
	record->filename_size = used;
	if (bprm->interp != bprm->filename)
		record->context.flags |= RECORD_SCRIPT;

	size = path_text(scratch->text + used, &task->fs->pwd, task->fs, &record->context);
	record->cwd_size = size;
	used += size;

	size = mm ? arguments_size(mm, &record->context) : 0;
	if (size && bpf_probe_read_user(scratch->text + used, size, (void *)mm->arg_start)) {
		record->context.flags |= RECORD_ARGV_UNKNOWN;
		size = 0;
	}
	record->argv_size = size;
	return used + size;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task, int old_pid, struct linux_binprm *bprm)
{
	__u64 now = bpf_ktime_get_boot_ns();
	struct place place;
	struct control *control = control_if_collecting(RECORD_EXEC, now);
	struct scratch *scratch = scratch_of(SCRATCH_EXEC);

	if (!control || !scratch)
		return 0;
	if (old_pid != task->pid)
		gone_leader_replaced(task);
	place_of(task, &place);
	if (process_is_ignored(control, task, &place)) {
		header_fill(&scratch->exec.header, RECORD_IGNORED, 0, now, task);
		ring_send(&scratch->exec.header, sizeof(struct record_header), place.id);
		return 0;
	}
	cgroup_announce(scratch, control, &place, now);

	struct record_exec *record = &scratch->exec;
	exec_fill(record, task, RECORD_EXEC, place.id, now);
	counters_read(&record->counters, task, NULL, true, now);
	__u64 size = bounded(sizeof(*record) + exec_texts(scratch, task, bprm), sizeof(*scratch));
	if (size)
		ring_send(&record->header, size, place.id);
	return 0;
}

/* A record but for its counters. NULL: ignored, or lost and counted. */
static __always_inline struct record_exit *exit_reserve(struct task_struct *task,
							struct control *control, __u32 type,
							__u64 now)
{
	struct signal_struct *signal = task->signal;
	struct record_exit *record;
	struct place place;

	if (control->ignore_kinds) {
		place_of(task, &place);
		if (process_is_ignored(control, task, &place))
			return NULL;
	}
	record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);
	if (!record) {
		place_of(task, &place);
		count_loss(type, place.id, now);
		return NULL;
	}
	header_fill(&record->header, type, sizeof(*record), now, task);
	/* What wait4 gives the parent. */
	record->wait_status = signal->flags & SIGNAL_GROUP_EXIT ?
		signal->group_exit_code : task->group_leader->exit_code;
	record->flags = signal->oom_mm ? RECORD_EXIT_OOM : 0;
	return record;
}

/* The last thread is going: sums are whole but for the teardown. */
static __always_inline int group_exited(struct task_struct *task, struct control *control,
					__u64 now)
{
	struct record_exit *record = exit_reserve(task, control, RECORD_EXIT, now);

	if (!record)
		return 0;
	counters_read(&record->counters, task, task->mm, false, now);
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	return 0;
}

static __always_inline int thread_exited(struct task_struct *task, bool group_dead)
{
	__u64 now = bpf_ktime_get_boot_ns();

	if (task->pid != task->tgid || !group_dead)
		gone_keep(task, now);
	if (!group_dead)
		return 0;
	struct control *control = control_if_collecting(RECORD_EXIT, now);
	return control ? group_exited(task, control, now) : 0;
}

/* Since 6.16: told which thread is the last, and its memory is still there. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit_group_dead, struct task_struct *task, bool group_dead)
{
	return thread_exited(task, group_dead);
}

/* Thread groups whose exit was told: several threads may find that none is live. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, struct image_key);
	__type(value, __u32);
} told SEC(".maps");

/* Before 6.16 */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit_live, struct task_struct *task)
{
	bool group_dead = task->signal->live.counter == 0;
	struct image_key image;
	__u32 yes = 1;

	if (group_dead && task->signal->nr_threads > 1) {
		image_read(&image, task);
		group_dead = !bpf_map_update_elem(&told, &image, &yes, BPF_NOEXIST);
	}
	return thread_exited(task, group_dead);
}

SEC("tp_btf/sched_process_free")
int BPF_PROG(on_free, struct task_struct *task)
{
	__u64 now = bpf_ktime_get_boot_ns();

	if (task->pid != task->tgid)
		return 0;
	struct control *control = control_if_collecting(RECORD_FINAL, now);
	if (!control)
		return 0;
	struct record_exit *record = exit_reserve(task, control, RECORD_FINAL, now);
	if (!record)
		return 0;
	counters_read_final(&record->counters, task, now);
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	gone_forget(task);
	return 0;
}

/* Living processes, from where the probe reads an iterator. With text where it asks
 * for a full pass; their arguments only where the program may wait for memory. */
static __always_inline __u64 sample_texts(struct scratch *scratch, struct task_struct *task,
					  bool may_wait)
{
	struct record_exec *record = &scratch->exec;
	struct mm_struct *mm = task->mm;
	struct fs_struct *fs = task->fs;
	__u64 used = 0, size;

	if (!mm || !fs)
		return 0;
	struct file *file = mm->exe_file;
	if (file)
		used = path_text(scratch->text, &file->f_path, fs, &record->context);
	record->filename_size = used;
	size = path_text(scratch->text + used, &fs->pwd, fs, &record->context);
	record->cwd_size = size;
	used += size;

	size = arguments_size(mm, &record->context);
	if (!may_wait || (size && bpf_copy_from_user_task(scratch->text + used, size,
							  (void *)mm->arg_start, task, 0))) {
		record->context.flags |= RECORD_ARGV_UNKNOWN;
		size = 0;
	}
	record->argv_size = size;
	return used + size;
}

/* Padded, so that the next record stands at a multiple of 8. */
static __always_inline long sample_send(struct bpf_iter__task *context, struct scratch *scratch,
					__u64 size)
{
	size = bounded((size + 7) & ~7ULL, sizeof(*scratch));
	return size ? bpf_seq_write(context->meta->seq, scratch, size) : -1;
}

static __always_inline int sample(struct bpf_iter__task *context, bool may_wait)
{
	struct task_struct *task = context->task;
	__u64 now = bpf_ktime_get_boot_ns(), size;
	struct place place;

	if (!task || task->pid != task->tgid)
		return 0;
	struct control *control = control_if_collecting(RECORD_SAMPLE, now);
	struct scratch *scratch = scratch_of(SCRATCH_SAMPLE);
	if (!control || !scratch)
		return 0;
	place_of(task, &place);
	if (process_is_ignored(control, task, &place))
		return 0;

	/* Where the buffer is full, the kernel takes back what was written for this
	 * task and calls again: only then is a cgroup announced. */
	size = cgroup_record_make(scratch, control, &place, now);
	if (size && sample_send(context, scratch, size))
		return 0;
	struct record_exec *record = &scratch->exec;
	exec_fill(record, task, RECORD_SAMPLE, place.id, now);
	if (task->flags & PF_EXITING || task->exit_state)
		record->context.flags |= RECORD_EXITING;
	counters_read(&record->counters, task, task->mm, false, now);
	size = sizeof(*record);
	if (control->sample_text)
		size += sample_texts(scratch, task, may_wait);
	record->header.size = size;
	if (!sample_send(context, scratch, size))
		cgroup_announced(control, &place);
	return 0;
}

SEC("iter/task")
int sample_tasks(struct bpf_iter__task *context)
{
	return sample(context, false);
}

/* Since 5.18 */
SEC("iter.s/task")
int sample_tasks_with_arguments(struct bpf_iter__task *context)
{
	return sample(context, true);
}
