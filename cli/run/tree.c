/* The tree of processes below `tracer run`. See tree.h.
 *
 * CPU time adds up, because the kernel adds that of a child to its parent's account (stat: cutime, cstime) when the
 * parent has waited for it: what the account of a process has beyond the children that were seen was used by children
 * between two scans. It counts as that of a child that was seen and has ended meanwhile, as far as that may be.
 */
#include "cli/run/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <uthash.h>
#include <utlist.h>

#include "common/clock.h"

#define MS_NS UINT64_C(1000000)
#define SAMPLE_PERIOD_NS (1000 * MS_NS)
#define DETAILS_FIRST_NS (10 * MS_NS)
#define SCAN_FIRST_MS 5
#define SCAN_LAST_MS 1000
#define SCAN_SHARE 100 /* of a processor: 1/100 */

#define ACCOUNT_ERROR_NS (2 * PROC_TICK_NS) /* two sums that are rounded down */
#define PEAK_ERROR_BYTES (1 << 20)          /* the kernel counts pages in batches, on each processor */

struct node {
	pid_t pid;
	int pid_fd, io_fd; /* -1: none */
	int depth;
	struct image_key image;
	struct proc_stat stat; /* the last one that was read */
	uint64_t looked_boot_ns, detailed_boot_ns;
	bool had_threads, is_gone;
	struct record_context context;
	struct counters counters;
	uint64_t peak_bytes;       /* of all its programs */
	uint64_t peak_below_bytes; /* of its children that have ended, and of theirs */
	uint64_t given_ns;         /* of its account: what is known to be of which child */
	uint64_t grown_ns;         /* its account since the scan before */
	uint64_t ended_ns;         /* its children that this scan found gone: their known CPU time */
	uint64_t room_ns;          /* the same: what they may have used since the scan before */
	struct proc_io io, io_below;
	struct node *next; /* in a list */
	UT_hash_handle hh;
};

static void node_free(struct node *node)
{
	if (node->pid_fd >= 0)
		close(node->pid_fd);
	if (node->io_fd >= 0)
		close(node->io_fd);
	free(node);
}

static void node_remove(struct tree *tree, struct node *node)
{
	HASH_DEL(tree->nodes, node);
	node_free(node);
}

static struct node *find(struct tree *tree, pid_t pid)
{
	struct node *node;

	HASH_FIND_INT(tree->nodes, &pid, node);
	return node;
}

static uint64_t least(uint64_t left, uint64_t right)
{
	return left < right ? left : right;
}

static uint64_t most(uint64_t left, uint64_t right)
{
	return left > right ? left : right;
}

static uint64_t beyond(uint64_t all, uint64_t part)
{
	return all > part ? all - part : 0;
}

static void set(struct counters *counters, uint64_t bit, uint64_t *field, uint64_t value)
{
	*field = value;
	counters->valid |= bit | COUNTERS_PARTIAL;
}
#define SET(counters, name, value) set(counters, COUNTER_VALID(name), &(counters)->name, value)

/* ---- records ---- */

static struct record_header header_of(enum record_type type, size_t size, uint64_t boot_ns,
				      const struct image_key *image)
{
	return (struct record_header){.type = type, .size = (uint32_t)size, .boot_ns = boot_ns, .image = *image};
}

static void send_fork(struct tree *tree, uint64_t boot_ns, const struct image_key *image,
		      const struct image_key *parent, const struct record_context *context)
{
	feed_event(&tree->feed, &(struct record_fork){
					.header = header_of(RECORD_FORK, sizeof(struct record_fork), boot_ns, image),
					.parent = *parent,
					.pgid = context->pgid,
					.uid = context->uid,
					.flags = RECORD_WITHOUT_PROBE,
					.anon_kib = RECORD_KIB_UNKNOWN,
				});
}

static void send_exit(struct tree *tree, uint64_t boot_ns, const struct image_key *image,
		      const struct counters *counters, const int *status)
{
	feed_event(&tree->feed, &(struct record_exit){
					.header = header_of(RECORD_EXIT, sizeof(struct record_exit), boot_ns, image),
					.counters = *counters,
					.wait_status = status ? (uint32_t)*status : 0,
					.flags = status ? 0 : RECORD_EXIT_UNKNOWN,
				});
}

/* `counters`: up to this exec. */
static void send_program(struct tree *tree, struct proc_program *program, uint64_t boot_ns,
			 const struct image_key *image, const struct image_key *parent, const struct counters *counters)
{
	struct record_exec *record = &program->record;

	record->header = header_of((enum record_type)record->header.type, record->header.size, boot_ns, image);
	record->context.parent = *parent;
	record->context.flags |= RECORD_WITHOUT_PROBE;
	record->counters = *counters;
	(record->header.type == RECORD_EXEC ? feed_event : feed_sample)(&tree->feed, program);
}

/* One process for all that were not seen below `parent`. `split`: how their time is divided; NULL: unknown. */
static void send_unseen(struct tree *tree, const struct node *parent, uint64_t cpu_ns, uint64_t peak_bytes,
			const struct rusage *split)
{
	struct proc_program program = {.record = {.context = parent->context, .comm = TREE_UNSEEN},
				       .text = TREE_UNSEEN};
	struct image_key image = parent->image;
	struct counters counters = {.valid = COUNTERS_PARTIAL};
	uint64_t begin_boot_ns = ++image.start_boot_ns;

	send_fork(tree, begin_boot_ns, &image, &parent->image, &parent->context);
	image.exec_id++;
	program.record.filename_size = sizeof(TREE_UNSEEN);
	program.record.header.type = RECORD_EXEC;
	program.record.header.size = sizeof(program.record) + sizeof(TREE_UNSEEN);
	program.record.context.flags = RECORD_ARGV_UNKNOWN;
	send_program(tree, &program, begin_boot_ns, &image, &parent->image, &counters);
	SET(&counters, cpu_ns, cpu_ns);
	if (split) {
		SET(&counters, user_ns, (uint64_t)split->ru_utime.tv_sec * 1000000 + (uint64_t)split->ru_utime.tv_usec);
		SET(&counters, system_ns,
		    (uint64_t)split->ru_stime.tv_sec * 1000000 + (uint64_t)split->ru_stime.tv_usec);
	}
	if (peak_bytes > 0)
		SET(&counters, peak_rss_bytes, peak_bytes);
	send_exit(tree, tree->scan_boot_ns, &image, &counters, NULL);
}

/* ---- what is read of a process ---- */

/* The kernel's figures include those of the children that it has waited for. If these were not counted apart yet, they
 * are in this scan: so only what follows a scan may ask for this. */
static void take_io(struct node *node)
{
	if (!node->io.is_known)
		return;
#define X(name, word) SET(&node->counters, name, most(node->counters.name, beyond(node->io.name, node->io_below.name)));
	PROC_IO(X)
#undef X
}

static void take_details(struct node *node, const struct proc_stat *stat, uint64_t now_boot_ns)
{
	node->detailed_boot_ns = now_boot_ns;
	proc_read_details(node->pid, stat, &node->counters);
	node->peak_bytes = most(node->peak_bytes, node->counters.peak_rss_bytes);
}

static void take_stat(struct node *node, const struct proc_stat *stat, uint64_t now_boot_ns)
{
	struct counters *counters = &node->counters;

	node->grown_ns = beyond(stat->reaped_ns, node->stat.reaped_ns);
	node->ended_ns = node->room_ns = 0;
	node->stat = *stat;
	node->looked_boot_ns = now_boot_ns;
	node->had_threads = node->had_threads || stat->thread_count > 1;
	SET(counters, cpu_ns, most(counters->cpu_ns, stat->user_ns + stat->system_ns));
	SET(counters, user_ns, stat->user_ns);
	SET(counters, system_ns, stat->system_ns);
	SET(counters, minor_faults, stat->minor_faults);
	SET(counters, major_faults, stat->major_faults);
	SET(counters, thread_count, stat->thread_count);
	if (stat->rss_bytes > counters->peak_rss_bytes)
		SET(counters, peak_rss_bytes, stat->rss_bytes);
	node->peak_bytes = most(node->peak_bytes, counters->peak_rss_bytes);
}

static bool has_ended(const struct proc_stat *stat)
{
	return (stat->state == 'Z' || stat->state == 'X') && stat->thread_count <= 1;
}

/* The first details are read soon, further ones later and later: of a process that has just ended, they are of at least
 * half its life, or of its last second. */
static bool details_are_due(const struct node *node, uint64_t now_boot_ns)
{
	uint64_t age_ns = beyond(now_boot_ns, node->image.start_boot_ns);

	return now_boot_ns >= node->detailed_boot_ns + least(most(age_ns / 2, DETAILS_FIRST_NS), SAMPLE_PERIOD_NS);
}

static void take_program(struct tree *tree, struct node *node, const struct image_key *parent, uint64_t boot_ns)
{
	static struct proc_program program;
	struct proc_stat stat = node->stat;
	struct counters before = node->counters;

	if (node->peak_bytes > 0)
		SET(&before, maxrss_bytes, node->peak_bytes);

	/* Another exec meanwhile: then the texts may be of both. */
	for (int i = 0; i < 3; i++) {
		proc_read_program(node->pid, &stat, RECORD_EXEC, &program);
		if (proc_read_stat(node->pid, &stat) < 0 || stat.stack == node->stat.stack || has_ended(&stat))
			break;
		node->stat.stack = stat.stack;
	}
	if (!node->stat.stack) { /* not shown to us: as before */
		program.record.context.uid = node->context.uid;
		program.record.context.gid = node->context.gid;
	}
	node->image.exec_id++;
	send_program(tree, &program, boot_ns, &node->image, parent, &before);
	node->context = program.record.context;
	node->counters.peak_rss_bytes = 0;
	node->counters.valid &= ~COUNTER_VALID(peak_rss_bytes);
}

/* ---- new processes ---- */

static bool is_own(const struct tree *tree, pid_t pid)
{
	for (int i = 0; i < TREE_OWN_MAX; i++)
		if (tree->own[i] == pid)
			return true;
	return false;
}

/* A child has its parent's memory, and so the place of its stack, until it executes something. */
static bool is_fork(const struct proc_stat *stat, const struct node *parent)
{
	if (!parent || (stat->stack != 0 && parent->stat.stack != 0))
		return parent && stat->stack == parent->stat.stack;
	return strcmp(stat->comm, parent->stat.comm) == 0;
}

/* In its tick, after the scan that did not find it and after its parent. */
static uint64_t start_of(const struct tree *tree, const struct proc_stat *stat, const struct node *parent,
			 uint64_t now_boot_ns)
{
	uint64_t since = most(stat->start_boot_ns, least(tree->scan_boot_ns, stat->start_boot_ns + PROC_TICK_NS - 1));

	since = least(since, now_boot_ns);
	return parent ? most(since, parent->image.start_boot_ns) : since;
}

static void add_node(struct tree *tree, pid_t pid, struct node *parent, uint64_t now_boot_ns)
{
	bool is_command = pid == tree->command->pid;
	struct node *above = parent || is_command ? parent : find(tree, tree->command->pid);
	const struct image_key *from = above ? &above->image : is_command ? &tree->self : &tree->root;
	struct node *node = calloc(1, sizeof(*node));
	struct proc_stat stat;

	if (!node)
		return;
	node->pid = pid;
	node->pid_fd = proc_open(pid);
	node->io_fd = proc_open_io(pid);
	if (proc_read_stat(pid, &stat) < 0) {
		node_free(node);
		return;
	}
	HASH_ADD_INT(tree->nodes, pid, node);
	node->depth = parent ? parent->depth + 1 : 0;
	node->image = (struct image_key){.pid = (uint32_t)pid, .exec_id = from->exec_id};
	node->image.start_boot_ns =
		is_command ? (uint64_t)tree->command->started_boot_ns[0] : start_of(tree, &stat, above, now_boot_ns);
	if (above)
		node->context = above->context;
	node->context.parent = *from;
	node->context.pgid = stat.pgid;
	send_fork(tree, node->image.start_boot_ns, &node->image, from, &node->context);
	node->stat = stat;
	node->stat.reaped_ns = 0;
	if (is_command || !is_fork(&stat, above)) {
		node->counters.valid = COUNTERS_PARTIAL;
		take_program(tree, node, from, is_command ? (uint64_t)tree->command->started_boot_ns[1] : now_boot_ns);
	}
	if (is_command)
		tree->root = node->image;
}

static void add_children(struct tree *tree, pid_t pid, struct node *parent, uint64_t now_boot_ns)
{
	if (!tree->has_children)
		return;
	tree->list.count = 0;
	proc_add_children(pid, parent ? parent->stat.thread_count : 1, &tree->list);
	for (size_t i = 0; i < tree->list.count; i++)
		if (!find(tree, tree->list.items[i]) && !is_own(tree, tree->list.items[i]))
			add_node(tree, tree->list.items[i], parent, now_boot_ns);
}

static int compare_pids(const void *left, const void *right)
{
	return *(const pid_t *)left - *(const pid_t *)right;
}

static bool list_has(const struct proc_list *list, pid_t pid)
{
	return list->count > 0 && bsearch(&pid, list->items, list->count, sizeof(pid), compare_pids);
}

/* Where the kernel does not list children: each process tells its parent. Those that the scan before saw and that were
 * not of the tree are of others, and not read again. /proc lists numbers in their order. */
static void add_all(struct tree *tree, uint64_t now_boot_ns)
{
	struct proc_list before = tree->all;
	struct proc_stat stat;
	bool is_new = true;

	tree->all = tree->list;
	tree->list = before;
	tree->all.count = 0;
	proc_add_all(&tree->all);
	while (is_new) {
		is_new = false;
		for (size_t i = 0; i < tree->all.count; i++) {
			pid_t pid = tree->all.items[i];
			struct node *parent;

			if (list_has(&before, pid) || find(tree, pid) || is_own(tree, pid) ||
			    proc_read_stat(pid, &stat) < 0)
				continue;
			parent = find(tree, stat.ppid);
			if (!parent && stat.ppid != getpid())
				continue;
			add_node(tree, pid, parent, now_boot_ns);
			is_new = is_new || find(tree, pid);
		}
	}
}

/* ---- the end of a process ---- */

/* Adds to its parent what is known of it and of its children. */
static void hand_up(const struct node *node, struct node *parent)
{
	parent->peak_below_bytes = most(parent->peak_below_bytes, most(node->peak_bytes, node->peak_below_bytes));
#define X(name, word) parent->io_below.name += most(node->io.name, node->counters.name + node->io_below.name);
	PROC_IO(X)
#undef X
}

static uint64_t known_ns(const struct node *node)
{
	return node->counters.cpu_ns + most(node->stat.reaped_ns, node->given_ns);
}

/* What it may have used since it was last seen: not more than before, or short siblings that were not seen would count
 * as its own. */
static uint64_t room_ns(const struct node *node, uint64_t now_boot_ns)
{
	return least(beyond(now_boot_ns, node->looked_boot_ns) * most(node->stat.thread_count, 1),
		     node->counters.cpu_ns);
}

/* `list`: deepest first. */
static void add_up(struct tree *tree, struct node *list, uint64_t now_boot_ns)
{
	for (struct node *node = list; node; node = node->next) {
		struct node *parent = find(tree, node->stat.ppid);

		take_io(node);
		if (!parent)
			continue;
		hand_up(node, parent);
		if (parent->is_gone) {
			parent->given_ns += known_ns(node);
			continue;
		}
		parent->ended_ns += known_ns(node);
		parent->room_ns += room_ns(node, now_boot_ns);
	}
}

/* Gives a child that was found gone its share of what its parent's account has grown by beyond what was known. */
static void take_tail(struct tree *tree, struct node *node, uint64_t now_boot_ns)
{
	struct node *parent = find(tree, node->stat.ppid);
	uint64_t unknown_ns, room, tail_ns;

	if (!parent || parent->is_gone)
		return;
	room = room_ns(node, now_boot_ns);
	unknown_ns = least(beyond(parent->grown_ns, parent->ended_ns),
			   beyond(parent->stat.reaped_ns, parent->given_ns + known_ns(node)));
	tail_ns = parent->room_ns == 0 ? 0 : (uint64_t)((double)unknown_ns * ((double)room / (double)parent->room_ns));
	tail_ns = least(tail_ns, room);
	SET(&node->counters, cpu_ns, node->counters.cpu_ns + tail_ns);
	parent->given_ns += known_ns(node);
}

static void end_gone(struct tree *tree, struct node *node)
{
	uint64_t unseen_ns = beyond(node->stat.reaped_ns, node->given_ns);
	int status = node->stat.wait_status;
	bool is_known = proc_read_status(node->pid_fd, &status) || has_ended(&node->stat);

	if (unseen_ns > ACCOUNT_ERROR_NS)
		send_unseen(tree, node, unseen_ns, 0, NULL);
	send_exit(tree, tree->scan_boot_ns, &node->image, &node->counters, is_known ? &status : NULL);
	node_remove(tree, node);
}

static int compare_depths(const struct node *left, const struct node *right)
{
	return right->depth - left->depth;
}

static void end_all_gone(struct tree *tree, struct node *list, uint64_t now_boot_ns)
{
	struct node *next;

	add_up(tree, list, now_boot_ns);
	for (struct node *node = list; node; node = node->next)
		take_tail(tree, node, now_boot_ns);
	for (struct node *node = list; node; node = next) {
		next = node->next;
		end_gone(tree, node);
	}
}

static uint64_t time_ns(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_usec * 1000;
}

/* Without children, what wait4 says is its own. */
static void take_usage(const struct tree *tree, struct node *node, const struct rusage *used)
{
	struct counters *counters = &node->counters;
	uint64_t peak_bytes = (uint64_t)used->ru_maxrss * 1024;

	SET(counters, cpu_ns, time_ns(&used->ru_utime) + time_ns(&used->ru_stime));
	SET(counters, user_ns, time_ns(&used->ru_utime));
	SET(counters, system_ns, time_ns(&used->ru_stime));
	SET(counters, voluntary_switches, (uint64_t)used->ru_nvcsw);
	SET(counters, involuntary_switches, (uint64_t)used->ru_nivcsw);
	if (peak_bytes > most(tree->own_peak_bytes, counters->peak_rss_bytes))
		SET(counters, peak_rss_bytes, peak_bytes);
}

/* Of a child of ours, the usage is exact, together with that of all that it has waited for. */
static void end_child(struct tree *tree, struct node *node, int status, const struct rusage *used)
{
	uint64_t all_ns = time_ns(&used->ru_utime) + time_ns(&used->ru_stime), unseen_ns;
	uint64_t peak_bytes = (uint64_t)used->ru_maxrss * 1024,
		 seen_bytes = most(node->peak_bytes, node->peak_below_bytes);

	if (node->stat.reaped_faults == 0 && node->given_ns == 0) {
		take_usage(tree, node, used);
	} else {
		unseen_ns = beyond(all_ns, node->counters.cpu_ns + node->given_ns);
		if (peak_bytes <= tree->own_peak_bytes ||
		    peak_bytes <= seen_bytes + most(PEAK_ERROR_BYTES, seen_bytes / 64))
			peak_bytes = 0;
		if (unseen_ns <= ACCOUNT_ERROR_NS && peak_bytes == 0)
			SET(&node->counters, cpu_ns, node->counters.cpu_ns + unseen_ns);
		else
			send_unseen(tree, node, unseen_ns, peak_bytes, used);
	}
	take_io(node);
	send_exit(tree, tree->scan_boot_ns, &node->image, &node->counters, &status);
	node_remove(tree, node);
}

/* Orphans that have ended are ours to wait for. */
static void reap(struct tree *tree, struct node *list)
{
	struct rusage used;
	struct node *next;
	int status;

	for (struct node *node = list; node; node = next) {
		next = node->next;
		if (wait4(node->pid, &status, WNOHANG, &used) == node->pid)
			end_child(tree, node, status, &used);
	}
}

/* ---- scans ---- */

/* The stack is not shown of a program that may do more than its caller (sudo), nor once a process is ending. */
static bool is_other_program(const struct node *node, const struct proc_stat *stat)
{
	if (has_ended(stat))
		return false;
	return stat->stack ? stat->stack != node->stat.stack : strcmp(stat->comm, node->stat.comm) != 0;
}

/* Returns false if it is gone. */
static bool look(struct tree *tree, struct node *node, uint64_t now_boot_ns)
{
	struct proc_stat stat;

	if (proc_read_stat(node->pid, &stat) < 0 || stat.start_boot_ns != node->stat.start_boot_ns)
		return false;
	if (is_other_program(node, &stat)) {
		node->stat.stack = stat.stack;
		memcpy(node->stat.comm, stat.comm, sizeof(stat.comm));
		take_program(tree, node, &node->context.parent, now_boot_ns);
	}
	if (has_ended(&stat) ? !has_ended(&node->stat) : details_are_due(node, now_boot_ns))
		take_details(node, &stat, now_boot_ns);
	proc_read_io(node->io_fd, &node->io);
	stat.stack = node->stat.stack;
	take_stat(node, &stat, now_boot_ns);
	if (!has_ended(&stat))
		add_children(tree, node->pid, node, now_boot_ns);
	return true;
}

static void send_sample(struct tree *tree, struct node *node, uint64_t now_boot_ns)
{
	struct record_exec record = {
		.header = header_of(RECORD_SAMPLE, sizeof(record), now_boot_ns, &node->image),
		.context = node->context,
	};

	if (has_ended(&node->stat))
		record.context.flags |= RECORD_EXITING;
	take_io(node);
	record.counters = node->counters;
	memcpy(record.comm, node->stat.comm, sizeof(record.comm));
	feed_sample(&tree->feed, &record);
}

/* This process is the origin of the run. */
static void send_self(struct tree *tree, uint64_t now_boot_ns)
{
	static struct proc_program program;
	struct counters none = {0};
	struct image_key unknown = {0};
	struct proc_stat stat;

	if (proc_read_stat(getpid(), &stat) < 0)
		return;
	tree->self = (struct image_key){.pid = (uint32_t)getpid(), .start_boot_ns = stat.start_boot_ns};
	proc_read_program(getpid(), &stat, RECORD_SAMPLE, &program);
	send_program(tree, &program, now_boot_ns, &tree->self, &unknown, &none);
}

static void send_samples(struct tree *tree, uint64_t now_boot_ns)
{
	tree->sample_boot_ns = now_boot_ns;
	send_self(tree, now_boot_ns);
	for (struct node *node = tree->nodes; node; node = node->hh.next)
		send_sample(tree, node, now_boot_ns);
	feed_scan(&tree->feed, now_boot_ns);
}

static void scan(struct tree *tree, uint64_t now_boot_ns)
{
	struct node *gone = NULL, *ended = NULL;

	add_children(tree, getpid(), NULL, now_boot_ns);
	if (!tree->has_children)
		add_all(tree, now_boot_ns);
	/* Their children are added at the end. */
	for (struct node *node = tree->nodes; node; node = node->hh.next) {
		node->is_gone = !look(tree, node, now_boot_ns);
		if (node->is_gone)
			LL_PREPEND(gone, node);
		else if (has_ended(&node->stat) && node->stat.ppid == getpid() && node->pid != tree->command->pid)
			LL_PREPEND(ended, node);
	}
	tree->scan_boot_ns = now_boot_ns;
	LL_SORT(gone, compare_depths);
	end_all_gone(tree, gone, now_boot_ns);
	reap(tree, ended);
}

/* Two descriptors for each process; the limit of the command stays as it was. */
static void raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

int tree_scan(struct tree *tree, const struct child *command)
{
	uint64_t now_boot_ns = clock_boot_ns(), cpu_ns = clock_cpu_ns(), wait_ms;

	if (!tree->command)
		raise_descriptor_limit();
	tree->command = command;
	scan(tree, now_boot_ns);
	if (now_boot_ns >= tree->sample_boot_ns + SAMPLE_PERIOD_NS)
		send_samples(tree, now_boot_ns);
	feed_flush(&tree->feed);
	wait_ms = (clock_cpu_ns() - cpu_ns) * SCAN_SHARE / MS_NS;
	return (int)least(most(wait_ms, SCAN_FIRST_MS), SCAN_LAST_MS);
}

int tree_begin(struct tree *tree, const char *socket_path)
{
	struct rusage used;

	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		return -errno;
	tree->has_children = proc_has_children();
	if (!tree->has_children)
		proc_add_all(&tree->all);
	getrusage(RUSAGE_SELF, &used);
	tree->own_peak_bytes = (uint64_t)used.ru_maxrss * 1024;
	int r = feed_open(&tree->feed, socket_path);

	if (r < 0)
		return r;
	send_samples(tree, clock_boot_ns());
	feed_flush(&tree->feed);
	return 0;
}

void tree_end(struct tree *tree, int status, const struct rusage *used)
{
	struct node *node = find(tree, tree->command->pid);

	tree->scan_boot_ns = clock_boot_ns();
	if (node)
		end_child(tree, node, status, used);
	send_samples(tree, clock_boot_ns());
	feed_close(&tree->feed);
	while (tree->nodes)
		node_remove(tree, tree->nodes);
	free(tree->list.items);
	free(tree->all.items);
}
