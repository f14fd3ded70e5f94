/* What the files of the model share among themselves. */
#ifndef TRACER_CORRELATOR_INTERNAL_H
#define TRACER_CORRELATOR_INTERNAL_H

#include "common/identity.h"
#include "common/store/store.h"
#include "correlator/entities.h"
#include "correlator/model.h"

/* After this long on the stream's clock nothing more is expected of what has
 * ended: a final record comes within 64 ms or never (kernel-facts). */
#define GRACE_FINAL_NS (2 * UINT64_C(1000000000))
#define GRACE_TASK_NS (5 * UINT64_C(1000000000))

/* Tasks of one run that may still be merged, kept in memory. Beyond it the run is
 * frozen: what is a task stays one. */
#define RUN_MERGEABLE_TASKS_MAX 1000

/* Tools of different names in one group: a service may run scripts of ever new names for years.
 * Beyond it they are told as one tool. */
#define GROUP_TOOLS_MAX 500
#define GROUP_TOOL_OTHERS "(others)"

/* Crashes of one task that are told: a program may crash on and on. */
#define CRASHES_PER_TASK_MAX 16

/* Samples of the host that wait for a commit: ten minutes of a store that cannot be
 * written. Then the oldest go. */
#define HOST_SAMPLES_MAX 60

/* Kinds of tasks of one run whose common words are remembered; the longest unused goes. */
#define SIBLINGS_MAX 64

/* inode of the initial pid namespace (include/linux/proc_ns.h, PROC_PID_INIT_INO) */
#define INITIAL_PID_NAMESPACE 0xEFFFFFFCU

/* A process that a pass found alive, not yet placed: its parent may follow. */
struct found {
	struct process_key key;
	struct image_key parent;
	uint64_t boot_ns;
	uint64_t cgroup_id;
	uint32_t exec_id, uid, sid, pgid, tty, flags, stdin_pipe, stdout_pipe;
	uint32_t pid_namespace, mount_namespace;
	struct counters counters;
	struct command *command;
	struct found *below; /* scratch of found.c */
	UT_hash_handle hh;
};

struct incident {
	struct row_incident row;
	char *sentence;
	char cause[512], sender[48];
	struct incident *prev, *next;
};

struct loss {
	struct row_loss row;
	char *cgroup_path;
	struct loss *prev, *next;
};

/* A text of a checkpoint that stands where a program has a static one. */
struct kept_text {
	char *text;
	UT_hash_handle hh;
};

struct model {
	struct store *store;
	const struct rules *rules;
	enum redact_mode arguments;
	bool checkpoints;
	struct identity image_identity; /* with what all ids of images begin with */
	int64_t generation; /* of ids: how often the store's state was given up */

	struct row_host host; /* its texts are below */
	char host_key[17], hostname[256], boot_id[40], kernel[128], machine[64], probe_version[32];
	struct host_facts host_facts;
	bool host_dirty;
	int64_t written_seen_unix_ns; /* host.last_seen_unix_ns as it is in the store */
	int64_t clock_offset_ns; /* CLOCK_REALTIME - CLOCK_BOOTTIME, as last told */
	uint64_t now_boot_ns;
	uint64_t pass_number;
	bool is_rows_pass;           /* the one that is being read: rows follow the samples */
	bool is_quiet_pass;          /* and all take their steps */
	uint64_t next_rows_boot_ns, next_quiet_boot_ns;
	uint64_t found_settle_boot_ns; /* events after it tell nothing more of the found */

	struct process *processes;
	struct found *found;
	struct cgroup *cgroups;
	struct cgroup *latest_cgroup; /* that was found, NULL: none; an event asks three times */
	struct container *containers;
	uint64_t next_sweep_boot_ns; /* of both */
	uint64_t next_renewal_boot_ns; /* of the rows of cgroups */
	struct run *runs;             /* list */
	struct run *runs_by_boundary; /* hash */
	struct pipe_end *pipe_ends;   /* hash */
	struct run *system;

	struct image *clients; /* whoever may wait for a container */
	struct image *dirty_images;
	size_t dirty_image_count;
	struct row_sample *samples;
	size_t sample_count, sample_capacity;
	struct row_host_sample host_samples[HOST_SAMPLES_MAX];
	size_t host_sample_count;
	int64_t *gone; /* checkpoints to delete */
	struct kept_text *kept_texts;
	size_t gone_count, gone_capacity;
	struct incident *incidents;
	struct loss *losses; /* to be written */
	struct loss_slot losses_told[LOSS_SLOTS]; /* what the probe has said of them */
	bool losses_dirty;
	bool out_of_memory;
};

/* Decides where a process belongs: place.c. */
struct placing {
	const struct rules_verdict *verdict; /* NULL: it forked and executed nothing itself */
	uint64_t boot_ns;
	uint64_t cgroup_id;
	uint32_t pgid;
	uint32_t stdin_pipe, stdout_pipe;
};

/* ---- places.c: cgroups and containers */
/* NULL: it was never told of. */
struct cgroup *cgroup_find(struct model *model, uint64_t cgroup_id);
struct cgroup *cgroup_add(struct model *model, uint64_t cgroup_id, const char *path, size_t size);
struct container *container_of_process(struct model *model, const struct process *process);
/* Lets go of those that nothing is in, once a minute. */
void places_sweep(struct model *model);
/* Another boot has others. */
void places_forget_cgroups(struct model *model);
void places_free(struct model *model);

/* ---- entities.c: making, finding and freeing */
/* Zeroed; NULL: out of memory, which the model remembers. */
void *model_alloc(struct model *model, size_t size);
void model_set_text(struct model *model, char **text, const char *value);
/* After the host's id and its boot id, with which all ids of images begin. */
void image_begin_identities(struct model *model);
int64_t image_id(const struct model *model, uint32_t pid, uint64_t start_boot_ns, uint32_t exec_id);
struct process *process_find(struct model *model, uint32_t pid, uint64_t start_boot_ns);
struct process *process_new(struct model *model, const struct image_key *key, struct process *parent);
void process_set_group(struct process *process, struct run *run, struct group *group);
/* Ids of a store whose state was given up differ from those before. */
void identity_add_generation(struct identity *identity, const struct model *model);
/* Whether its row is all that is left of it: the next collection frees it, once that is written. */
bool process_is_done(const struct model *model, const struct process *process);
void process_free(struct model *model, struct process *process);
struct run *run_new(struct model *model, const struct process *root, const char *kind, uint64_t boundary_key);
struct task *task_new(struct model *model, struct run *run, const char *kind, const char *reason,
		      int64_t identity);
struct group *group_new(struct model *model, struct task *task, const struct process *root);
struct tool *group_tool(struct model *model, struct group *group, const char *name,
			enum rules_role role);
void group_move(struct model *model, struct group *group, struct task *task);
/* Its boot is over: cgroups and jobs of the next may have the same numbers. */
void run_end_boot(struct model *model, struct run *run);
void run_free(struct model *model, struct run *run);
/* Frees what has ended, is on disk and cannot be needed again. */
void model_collect(struct model *model);

/* ---- image.c: images and their figures */
struct image *image_new(struct model *model, struct process *process, enum image_began began,
			uint64_t begin_boot_ns, const struct rules_verdict *verdict,
			struct tool *tool, const char *reason);
void image_update(struct model *model, struct image *image, const struct counters *counters,
		  enum image_totals kind);
void image_end(struct model *model, struct image *image, enum image_ended how, uint64_t boot_ns,
	       int64_t wait_status, uint32_t exit_flags);
/* Its last thread ran that long after the exit record, which has no teardown in it; a final record
 * that came then says so. So the time from begin to end has all that the figures have. */
void image_end_later(struct image *image, int64_t teardown_ns, uint64_t until_boot_ns);
/* The process as a whole is over, whatever it ran last; only the first time counts. */
void process_end(struct model *model, struct process *process, int64_t wait_status, uint64_t boot_ns);
void image_set_tool(struct model *model, struct image *image, struct tool *tool);
void image_set_dirty(struct model *model, struct image *image);
/* One that lives is found by its role from now on. */
void image_link_role(struct model *model, struct image *image);
void image_free(struct model *model, struct image *image);
void tally_init(struct tally *tally);
void tally_add(struct tally *sum, const struct tally *part, int sign);
void outcome_init(struct outcome *outcome);
/* A root ended with `wait_status` (ROW_NULL unknown). Whether that is the outcome. */
bool outcome_note(struct outcome *outcome, int64_t wait_status, uint64_t boot_ns);
void outcome_add(struct outcome *sum, const struct outcome *part);
const char *outcome_status(const struct outcome *outcome, const struct tally *tally);

/* ---- classify.c: what a process is */
void model_classify(struct model *model, struct process *process, struct rules_verdict *ret_verdict);
/* What a child is that only forked. */
void classify_inherited(const struct process *process, struct rules_verdict *ret);
/* Whether a shell is called after the script it runs: "bash" and "bash -c" are not. */
bool verdict_names_script(const struct process *process, const struct rules_verdict *verdict);
/* Helpers and components open no task and are no reason for one. */
bool verdict_opens_subtree(const struct placing *placing);

/* ---- run.c: where runs begin */
/* A run that is there to end: not a service, not the host's own. */
bool run_is_workload(const struct run *run);
struct run *run_of_system(struct model *model);
/* `origin`: what `process` is beneath, its parent or the keeper of its container. */
bool run_begins_beneath(struct model *model, const struct process *process,
			const struct process *origin, const struct placing *placing,
			enum rules_boundary *ret_boundary);
/* The run that `process` begins, or the one it joins; and the verdict on its origin. */
struct run *run_begin(struct model *model, struct process *process, struct process *origin,
		      const struct placing *placing, enum rules_boundary boundary,
		      struct rules_verdict *ret_verdict);
void run_set_root(struct model *model, struct run *run, const struct process *process);
/* `process` is its root, or what wrappers alone lead to from there. */
bool run_is_at_front(const struct run *run, const struct process *process);
/* Whether an interactive shell in the run of `process` makes a session of it, or of its own. */
bool run_may_be_session(const struct process *process);
void run_become_session(struct run *run);
bool run_is_session(const struct run *run);
struct run *run_begin_session(struct model *model, struct process *process);

/* ---- run_name.c: what runs are called, and whose they are */
#define RUN_NAME_FIXED 9 /* a priority: nothing renames it */
void run_set_name(struct model *model, struct run *run, const char *name, int priority);
/* `process` has a new image; `behind_wrapper`: what it or its parent was before only led there. */
void run_note_image(struct model *model, struct run *run, const struct process *process,
		    const struct rules_verdict *verdict, bool behind_wrapper);

/* ---- task.c: opening and merging tasks */
/* A group of `process` in `task`; a task for it, beneath its parent. */
struct group *group_open(struct model *model, struct task *task, struct process *process,
			 const struct placing *placing);
struct group *task_open(struct model *model, struct process *process, const struct placing *placing,
			const char *kind, const char *reason);
void task_add_root(struct model *model, struct task *task, struct process *process);
void task_set_orchestrator(struct task *task, struct process *orchestrator);
/* `process`, which is in the task, has begun an image: its rule, its script or its command line
 * may name the task and label it. */
void task_note_image(struct model *model, struct task *task, const struct process *process,
		     const struct rules_verdict *verdict);
void task_merge(struct model *model, struct task *from, struct task *into);

/* ---- pipes.c: pipes that make siblings one */
/* Beneath an orchestrator: the group of the sibling that a pipe joins `process` to; for
 * helpers the orchestrator's; NULL: it is a subtree of its own. */
struct group *subtree_join(struct model *model, struct process *process,
			   const struct placing *placing, const char **ret_reason);
/* Takes into `group` the helpers that pipes join it to and that came before it. */
void group_adopt_helpers(struct model *model, struct group *group, struct process *orchestrator);
/* `process`, a child of the group's orchestrator, is in it from now on. */
void group_add_stem(struct group *group, struct process *process);
/* The open ends of its pipeline from now on; 0: none. */
void group_set_pipes(struct model *model, struct group *group, uint32_t input, uint32_t output);
/* Nobody finds `process` by its pipes any more, nor its group once none of its stems is left. */
void process_leave_pipes(struct model *model, struct process *process);
/* All of them, after a checkpoint has been loaded. */
void pipes_link(struct model *model);

/* ---- spine.c: tasks without an engine */
struct group *spine_push(struct model *model, struct run *run, struct process *process,
			 const struct placing *placing);
struct group *spine_place(struct model *model, struct process *process,
			  const struct placing *placing, const char **ret_reason);

/* ---- place.c: which run, task and group */
/* The first process of a container: who above it knows its name? */
void container_note_first(struct model *model, struct container *container,
			  const struct process *process);
/* Gives `process` a run and a group, and an image of its own if it only forked. */
void place_full(struct model *model, struct process *process, const struct placing *placing);
/* A new image of `process`: as above where it has no place yet, else in its group. */
void place_exec(struct model *model, struct process *process, const struct placing *placing);
/* A forked part of its parent's program: an image in the parent's tool. */
void place_part(struct model *model, struct process *process);

/* ---- model.c */
/* The stream's clock, which only goes forward. */
void model_advance(struct model *model, uint64_t boot_ns);
/* The wall clock at `boot_ns` as the latest pass has it, which is right of what has just
 * happened: asked once of a moment, and kept. */
int64_t model_unix_ns(const struct model *model, uint64_t boot_ns);

/* ---- found.c: processes that a pass found alive */
void found_note(struct model *model, const struct event_sample *sample);
/* The command line of one that a pass found, from its exec, which came after the pass; or from
 * a later look, if none is known yet. */
void found_complete(struct model *model, struct process *process, struct command *command);
void found_complete_sample(struct model *model, struct process *process,
			   const struct event_sample *sample);
struct found *found_find(struct model *model, const struct process_key *key);
void found_free(struct model *model, struct found *found);
void found_place_all(struct model *model);
/* Places those found that an event at `boot_ns` leaves no doubt about. */
void found_settle(struct model *model, uint64_t boot_ns);
/* The process an event speaks of, placed if it was only found; NULL: unknown. */
struct process *process_resolve(struct model *model, const struct image_key *key);
void process_set_context(struct process *process, uint64_t cgroup_id, uint32_t uid, uint32_t sid,
			 uint32_t pgid, uint32_t tty, uint32_t flags);

/* ---- pass.c: passes over the living */
void pass_apply_sample(struct model *model, const struct event_sample *sample);
void pass_note_step(struct image *image, uint64_t boot_ns, const struct totals *now);
void pass_apply_end(struct model *model, const struct wire_pass *pass);

/* ---- label.c: what tells a task from its siblings */
void label_note_image(struct model *model, struct task *task, const struct process *process,
		      const struct rules_verdict *verdict);
/* task_note_image() of all images of the task that are in memory, the earliest first. */
void task_note_images(struct model *model, struct task *task);
/* Names and labels of its tasks that are to be written. */
void run_set_texts(struct model *model, struct run *run);
/* `from` becomes a part of `into`, which keeps what it has. */
void label_merge(struct task *into, struct task *from);
void siblings_free(struct run *run);

/* ---- naming.c */
void task_set_name(struct task *task);

/* ---- incident.c */
int64_t incident_id(int64_t subject, const char *kind);
/* Texts are copied; `cause` may be NULL or empty. `unix_ns` 0: it has just happened. */
void incident_add(struct model *model, const struct row_incident *row, const char *sentence,
		  const char *cause);
/* The cause of a process that failed by itself; NULL: out of memory. */
struct cause *incident_describe(struct model *model, const struct image *image);
/* A process failed by itself: some ways to do so are told whatever becomes of its task. */
void incident_note_failure(struct model *model, struct image *image);
void incident_note_task(struct model *model, struct task *task);

/* Its incident as a task that failed, written again where it has one: what became of it changed. */
void incident_tell_task(struct model *model, struct task *task);

/* ---- retry.c: failed tasks that are done again, or tolerated */
/* A root of the task has ended. */
void retry_note_end(struct model *model, struct task *task);
/* The root has executed something: what work that is, and whether it was tried before. */
void retry_note_root(struct model *model, struct task *task, const struct process *root,
		     enum rules_role role);
/* The same for what an engine's script executes. */
void retry_note_exec(struct model *model, const struct process *process);
/* An orchestrator has ended: `wait_status` ROW_NULL, how is unknown. */
void retry_settle(struct model *model, const struct process *orchestrator, int64_t wait_status);
/* The task may be done again; false: there are too many. */
bool retry_await(struct task *task);
/* It is no task any more, or gone. */
void retry_forget(struct task *task);

/* ---- cancel.c: who asked a batch system to end a job */
/* A process has executed another program. */
void cancel_note(struct model *model, const struct process *process, uint64_t boot_ns);
/* The command that can explain what happened to the run at `boot_ns`; NULL: none was seen. */
const struct cancel *cancel_find(const struct run *run, uint64_t boot_ns);

/* ---- persist.c */
int64_t cgroup_row_id(const struct model *model, uint64_t cgroup_id);

/* ---- loss.c: what was dropped */
/* False: that is no array of losses. */
bool loss_take(struct model *model, const struct wire_losses *losses);
/* One record that could not be read. */
void loss_note_record(struct model *model, const struct record_header *header);

/* ---- stall.c: what stands still */
void stall_note_sample(struct model *model, struct process *process, const struct event_sample *sample,
		       const struct totals *now);
/* It moves again, or has ended. */
void stall_end(struct model *model, struct process *process, uint64_t boot_ns);

/* ---- device.c */
void device_note(struct model *model, const struct event_device *event);

/* ---- checkpoint_save.c, checkpoint_load.c */
int checkpoint_save(struct model *model);
int checkpoint_load(struct model *model);
/* What has gone from memory is deleted with the next commit. */
void checkpoint_drop(struct model *model, int64_t id);
/* Writes model->generation; not part of checkpoint_save, it changes only while loading. */
int checkpoint_save_generation(struct model *model);
/* Whether the tools of a task are too many to be written whenever one of them changes. */
bool checkpoint_keeps_apart(const struct task *task);
void checkpoint_drop_process(struct model *model, const struct process *process);

#endif
