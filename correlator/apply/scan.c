/* See scan.h. */
#include "correlator/apply/scan.h"

#include <stdlib.h>

#include "common/pid_namespace.h"
#include "correlator/apply/change.h"
#include "correlator/apply/clock.h"
#include "correlator/apply/found.h"
#include "correlator/apply/scan_memory.h"
#include "correlator/apply/state.h"
#include "correlator/incidents/ongoing.h"
#include "correlator/model/cgroup.h"
#include "correlator/model/container_member.h"
#include "correlator/model/model.h"
#include "correlator/model/process.h"
#include "correlator/model/tool.h"
#include "correlator/placement/place.h"

/* Figures of a running process are written in steps: when it has used this much CPU time, or when
 * its memory or I/O has changed by this much. */
#define STEP_CPU_NS (5 * 1000 * 1000)
#define STEP_BYTES (1024 * 1024)
/* Processes that use less than 1/BUSY_SHARE of a processor are sampled together once per
 * QUIET_PERIOD_NS, so that daemons that wake up do not keep the disk busy. */
#define BUSY_SHARE 50
#define QUIET_PERIOD_NS (300 * UINT64_C(1000000000))
/* A sample is cheap, but rewriting the rows of the process, its tool, task and run costs some twenty
 * pages of the store. They are rewritten every ten seconds if they lag by this much. */
#define ROWS_PERIOD_NS (10 * UINT64_C(1000000000))
#define ROW_CPU_NS INT64_C(1000000000)
#define ROW_BYTES (16 * STEP_BYTES)

/* A scan this long after the previous one says nothing about the time between. */
#define SCAN_PERIOD_MAX_NS (60 * UINT64_C(1000000000))
#define FORK_LASTS_NS UINT64_C(1000000000) /* on a busy machine an exec may be late */

/* Anonymous and shared memory, without page cache. */
static int64_t memory_of(const struct counters *counters)
{
	if (!(counters->valid & COUNTER_VALID(rss_anon_bytes)))
		return 0;
	return (int64_t)(counters->rss_anon_bytes +
			 (counters->valid & COUNTER_VALID(rss_shmem_bytes) ? counters->rss_shmem_bytes : 0));
}

static int64_t known_or_0(int64_t value)
{
	return value == ROW_NULL ? 0 : value;
}

/* Whether it has read on in its largest file, or another one. */
static bool has_read_on(const struct model *model, const struct image *image)
{
	const struct file_read *file = image_file_at(image, model->scan_number);

	return file && llabs(file->position_bytes - file->sampled_position_bytes) >= STEP_BYTES;
}

/* Whether this scan is worth a sample. `now` covers the image; the kernel's counters cover the whole
 * process. It is as busy as its processors or GPUs, whichever is more. Memory on GPUs that is not reported
 * any more counts as freed. */
static bool is_step(const struct model *model, const struct image *image, const struct totals *now,
		    const struct record_exec *sample)
{
	const struct device_use *use = image_use(image);
	uint64_t boot_ns = sample->header.boot_ns;
	int64_t elapsed_ns = image->sampled_boot_ns ? (int64_t)(boot_ns - image->sampled_boot_ns) : 0;
	int64_t memory = memory_of(&sample->counters) - image->sampled_memory_bytes;
	int64_t gpu_memory = known_or_0(device_use_memory_at(use, boot_ns)) - known_or_0(use->sampled_bytes);
	int64_t busy_ns = now->cpu_ns - image->sampled_cpu_ns;
	int64_t gpu_busy_ns = known_or_0(use->gpu_busy_ns) - known_or_0(use->sampled_busy_ns);

	if (has_read_on(model, image) || memory >= STEP_BYTES || memory <= -STEP_BYTES || gpu_memory >= STEP_BYTES ||
	    gpu_memory <= -STEP_BYTES)
		return true;
	tally_raise(&busy_ns, gpu_busy_ns);
	if (busy_ns < STEP_CPU_NS && totals_io_bytes(now) - image->sampled_io_bytes < STEP_BYTES)
		return false;
	return model->apply->scan.is_for_quiet || busy_ns >= elapsed_ns / BUSY_SHARE;
}

/* Whether to update the image's row: for a young, busy one each time its CPU time has doubled. */
static bool row_is_due(const struct model *model, const struct image *image, const struct totals *now, bool step)
{
	const struct totals *written = &image->totals;
	int64_t cpu_ns = now->cpu_ns - written->cpu_ns;
	int64_t io_bytes = totals_io_bytes(now) - totals_io_bytes(written);

	if (!written->valid || (step && cpu_ns >= STEP_CPU_NS && cpu_ns >= written->cpu_ns))
		return true;
	if (model->apply->scan.is_for_quiet)
		return cpu_ns >= STEP_CPU_NS || io_bytes >= STEP_BYTES;
	return model->apply->scan.is_for_rows && (cpu_ns >= ROW_CPU_NS || io_bytes >= ROW_BYTES);
}

static void sample_store(struct model *model, struct process *process, const struct record_exec *sample,
			 const struct totals *now)
{
	struct image *image = process->image;
	const struct counters *counters = &sample->counters;
	const struct file_read *file = image_file_at(image, model->scan_number);
	const struct device_use *use = image_use(image);

	if (file)
		image->file->sampled_position_bytes = file->position_bytes;
	image_note_sample(image, sample->header.boot_ns, now);
	image->sampled_memory_bytes = memory_of(counters);
	scan_memory_add_sample(model, process,
			       &(struct row_sample){
				       .process_id = image->id,
				       .boot_ns = (int64_t)sample->header.boot_ns,
				       .cpu_ns = counter_or_null(now, cpu_ns),
				       .run_delay_ns = counter_or_null(now, run_delay_ns),
				       .read_bytes = counter_or_null(now, read_bytes),
				       .write_bytes = counter_or_null(now, write_bytes),
				       .sent_bytes = counter_or_null(now, sent_bytes),
				       .received_bytes = counter_or_null(now, received_bytes),
				       .rss_anon_bytes = counter_or_null(counters, rss_anon_bytes),
				       .rss_file_bytes = counter_or_null(counters, rss_file_bytes),
				       .rss_shmem_bytes = counter_or_null(counters, rss_shmem_bytes),
				       .swap_bytes = counter_or_null(counters, swap_bytes),
				       .thread_count = counter_or_null(counters, thread_count),
				       .uninterruptible_count = counter_or_null(counters, uninterruptible_count),
				       .gpu_busy_ns = use->gpu_busy_ns,
				       .gpu_memory_bytes = device_use_memory_at(use, sample->header.boot_ns),
				       .file_position_bytes = file ? file->position_bytes : ROW_NULL,
				       .file_size_bytes = file ? file->size_bytes : ROW_NULL,
			       });
}

/* If this scan finds a thread in uninterruptible sleep, the whole time since the previous
 * scan counts as spent in it. */
static bool note_uninterruptible(struct process *process, const struct record_exec *sample)
{
	struct image *image = process->image;
	uint64_t before = process->sampled_boot_ns;

	process->sampled_boot_ns = sample->header.boot_ns;
	if (!(sample->counters.valid & COUNTER_VALID(uninterruptible_count)))
		return false;
	if (image->uninterruptible_ns == ROW_NULL)
		image->uninterruptible_ns = 0;
	if (before < image->begin_boot_ns)
		before = image->begin_boot_ns;
	if (sample->counters.uninterruptible_count == 0 || sample->header.boot_ns <= before ||
	    sample->header.boot_ns - before > SCAN_PERIOD_MAX_NS)
		return false;
	image->uninterruptible_ns += (int64_t)(sample->header.boot_ns - before);
	if (sample->context.flags & RECORD_MEMORY_STALL)
		image->memory_stall_ns += (int64_t)(sample->header.boot_ns - before);
	return true;
}

/* A forked child that lives this long gets a row of its own before it ends. One that a scan catches
 * between fork and exec does not, or the contents of a tool would depend on chance. */
static bool is_lasting(const struct process *process, const struct record_exec *sample)
{
	return sample->header.boot_ns >= process->fork_boot_ns + FORK_LASTS_NS;
}

/* Whether it has ended but is not reaped yet. If only its main thread has exited, others remain. */
static bool is_zombie(const struct record_exec *sample)
{
	return sample->context.flags & RECORD_EXITING &&
	       !(sample->counters.valid & COUNTER_VALID(thread_count) && sample->counters.thread_count > 1);
}

/* It may be moved to another cgroup after its exec. Its run and task stay. */
static void follow_cgroup(struct model *model, struct process *process, uint64_t cgroup_id)
{
	const struct cgroup *cgroup;

	if (process->cgroup_id == cgroup_id)
		return;
	process->cgroup_id = cgroup_id;
	process_set_changed(model, process);
	if (process->image->base) /* that of the cgroup before */
		process->image->base->valid &= ~COUNTER_VALID(cgroup_throttled_ns);
	cgroup = cgroup_find(model, cgroup_id);
	if (!cgroup || !cgroup->container || cgroup->container == process->image->container)
		return;
	image_enter(model, process->image, cgroup->container);
	container_note_image(model, process->image);
}

static void sample_known(struct model *model, struct process *process, const struct record *record)
{
	const struct record_exec *sample = &record->exec;

	process->seen_scan = model->scan_number;
	process->missed_boot_ns = 0;
	if (process->ended)
		return;
	if (is_zombie(sample)) {
		scan_memory_note_exiting(model, process);
		return;
	}
	if (process->ignored) {
		scan_memory_note_process(model, process, sample);
		return;
	}
	if (!process->image && is_lasting(process, sample)) {
		/* Workers of a daemon change their user after the fork. */
		process_set_context(process, sample->context.cgroup_id, sample->context.uid, sample->context.pgid,
				    sample->context.flags);
		place_part(model, process);
	}
	if (process->exec_id == sample->header.image.exec_id)
		scan_memory_note_process(model, process, sample);
	else
		scan_memory_note_stranger(model, &sample->counters);
	/* The exec's record is still in the ring and will update the model. */
	if (!process->image || process->image->exec_id != sample->header.image.exec_id)
		return;
	follow_cgroup(model, process, sample->context.cgroup_id);
	struct totals now;

	totals_of_image(&now, image_base(process->image), &sample->counters);
	found_complete_sample(model, process, record);
	ongoing_take_zombies(model, process, sample->header.boot_ns);
	bool slept = note_uninterruptible(process, sample);
	bool step = is_step(model, process->image, &now, sample);

	if (step)
		sample_store(model, process, sample, &now);
	if ((slept && model->apply->scan.is_for_rows) || row_is_due(model, process->image, &now, step))
		image_update(model, process->image, &sample->counters, TOTALS_SAMPLE);
	if (model->apply->scan.is_for_rows || !(process->image->totals.valid & COUNTER_VALID(gpu_busy_ns)))
		image_take_use(model, process->image);
	ongoing_note_sample(model, process, sample, &now);
}

void scan_apply_sample(struct model *model, const struct record *record)
{
	const struct image_key *image = &record->header.image;
	struct process *process = process_find(model, process_key_of(image));
	uint32_t namespace = record->exec.context.pid_namespace;

	if (namespace == PID_NAMESPACE_INITIAL)
		model->apply->scan.has_initial = true;
	else if (namespace)
		model->apply->scan.has_inner = true;
	if (is_zombie(&record->exec))
		ongoing_note_zombie(model, &record->exec.context.parent);
	if (!process && !is_zombie(&record->exec))
		scan_memory_note_stranger(model, &record->exec.counters);
	if (process)
		sample_known(model, process, record);
	else if (image->start_boot_ns && !is_zombie(&record->exec))
		found_note(model, record); /* an unknown zombie's end is recorded or predates the probe */
}

/* The scans of a probe in a PID namespace of its own have only what is in there: of others only events tell, and one that no
 * scan has seen is not missing. */
static bool is_visible(const struct scan_schedule *scan, const struct process *process)
{
	return scan->has_initial || !scan->has_inner || process->sampled_boot_ns;
}

/* A process that was running when the scan began but is missing from it has ended without a
 * record, unless its exit is still in the ring: wait for all events from before that scan. */
static void end_missing(struct model *model, const struct wire_scan *scan)
{
	struct process *process, *next;

	HASH_ITER (hh, model->processes, process, next) {
		if (process->ended || process->seen_scan == model->scan_number ||
		    process->key.start_boot_ns >= scan->boot_ns || process->fork_boot_ns >= scan->boot_ns ||
		    !is_visible(&model->apply->scan, process))
			continue;
		if (!process->missed_boot_ns)
			process->missed_boot_ns = scan->boot_ns;
		if (model->now_boot_ns < process->missed_boot_ns)
			continue;
		place_part(model, process);
		change_end_unknown(model, process, IMAGE_LOST, scan->boot_ns);
	}
}

/* Decides what the next scan includes. */
static void begin_next(struct scan_schedule *scan, uint64_t boot_ns)
{
	scan->has_initial = scan->has_inner = false;
	scan->is_for_rows = boot_ns >= scan->next_rows_boot_ns;
	if (scan->is_for_rows)
		scan->next_rows_boot_ns = boot_ns + ROWS_PERIOD_NS;
	scan->is_for_quiet = boot_ns >= scan->next_quiet_boot_ns;
	if (scan->is_for_quiet)
		scan->next_quiet_boot_ns = boot_ns + QUIET_PERIOD_NS;
}

void scan_apply_end(struct model *model, const struct wire_scan *scan)
{
	end_missing(model, scan);
	scan_memory_end(model, scan->boot_ns);
	model->scan_number++;
	model->scan_boot_ns = scan->boot_ns;
	begin_next(&model->apply->scan, scan->boot_ns);
	if (scan->unix_ns)
		clock_note(model, scan->boot_ns, scan->unix_ns, false);
	/* With a backlog, events that follow this scan may be older, so the clock must not advance. */
	if (!scan->backlog_bytes)
		model_advance(model, scan->boot_ns);
}
