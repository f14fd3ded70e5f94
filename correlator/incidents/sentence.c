/* See sentence.h. */
#include "correlator/incidents/sentence.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <utlist.h>

#include "common/duration.h"
#include "correlator/incidents/sender.h"
#include "correlator/model/cgroup.h"
#include "correlator/model/device.h"
#include "correlator/model/group.h"
#include "correlator/model/image.h"
#include "correlator/model/process.h"
#include "correlator/model/model.h"
#include "correlator/model/run.h"
#include "correlator/model/sent_signal.h"
#include "correlator/model/task.h"
#include "correlator/model/tree.h"
#include "correlator/model/tool.h"

/* The kernel charges memory in per-processor batches of pages: a limit counts as reached
 * when the counter is this close to it. */
#define OOM_MARGIN_BYTES (1024 * 1024)

#define MIB(bytes) ((double)(bytes) / (1024.0 * 1024.0))

/* ---- facts */

struct end {
	const struct image *image;
	enum cause_kind kind;
	int signal, code; /* 0: none */
	const struct sent_signal *sent;
	const struct cancel *cancel; /* the command that cancelled the job */
	const struct ending *failed_before, *failed_child;
	const struct cgroup *cgroup; /* these if it was killed for memory: */
	int64_t limit, peak;
};

/* What may be known of an end. X(NAME, whether it is) */
#define FACTS(X) \
	X(OUT_OF_MEMORY, end->kind == CAUSE_OOM) \
	X(GPU_ERROR, end->kind == CAUSE_GPU) \
	X(NO_COMMAND, end->kind == CAUSE_COMMAND) \
	X(KILLED, WTERMSIG(end->image->wait_status) != 0) \
	X(SIGNALLED, end->sent != NULL) \
	X(CANCELLED, end->cancel != NULL) \
	X(IS_SHELL, end->image->role == RULES_ROLE_SHELL) \
	X(IS_DRIVER, is_driver(end->image)) \
	X(LIMITS_TIME, (end->image->traits & RULES_LIMITS_TIME) != 0) \
	X(CODE_OF_SIGNAL, end->code > 128 && end->code < 128 + 64) \
	X(CPU_LIMIT, (end->image->exit_flags & RECORD_EXIT_CPU_LIMIT) != 0) \
	X(MEMORY_LIMIT, (end->image->exit_flags & RECORD_EXIT_MEMORY_LIMIT) != 0) \
	X(FILE_LIMIT, (end->image->exit_flags & RECORD_EXIT_FILE_LIMIT) != 0) \
	X(HAS_PEAK, end->peak != ROW_NULL) \
	X(HAS_LIMIT, end->limit != ROW_NULL) \
	X(AT_LIMIT, end->limit != ROW_NULL && end->peak >= end->limit - OOM_MARGIN_BYTES) \
	X(FAILED_BEFORE, end->failed_before != NULL) \
	X(FAILED_CHILD, end->failed_child != NULL)

#define X(NAME, condition) NAME##_INDEX,
enum { FACTS(X) FACT_COUNT };
#undef X
#define X(NAME, condition) NAME = 1 << NAME##_INDEX,
enum { FACTS(X) };
#undef X
#define FROM(sender) (1 << (FACT_COUNT + (sender))) /* enum sender_kind */
_Static_assert(FACT_COUNT + SENDER_KINDS < 31, "a bit for each");

/* Such a program has a cause of its own only if none of what it ran explains its end. */
static bool is_driver(const struct image *image)
{
	return image->role == RULES_ROLE_SHELL || image->role == RULES_ROLE_WRAPPER ||
	       image->role == RULES_ROLE_ORCHESTRATOR;
}

static int facts_of(const struct end *end)
{
	int facts = end->sent ? FROM(end->sent->kind) : 0;

#define X(NAME, condition) facts |= (condition) ? NAME : 0;
	FACTS(X)
#undef X
	return facts;
}

/* ---- words */

/* The first row applies of which all facts are known, and the signal and the code are as here. {NAME}: see add_value(). */
struct words {
	int facts;        /* which must be known */
	int signal, code; /* 0: any, or none */
	const char *text;
};

#define WHO "{program} (pid {pid}) "

static const struct words what[] = {
	{OUT_OF_MEMORY, 0, 0, WHO "was killed by the kernel's OOM killer after {duration}"},
	{NO_COMMAND, 0, 0, WHO "could not execute a command (code {code})"},
	{KILLED | SIGNALLED, 0, 0, WHO "was killed by {signal} from {source}{core} after {duration}"},
	{KILLED, 0, 0, WHO "was killed by {signal}{core} after {duration}"},
	{IS_DRIVER | SIGNALLED, 0, 0,
	 WHO "itself exited with code {code} after {duration}, {since signal} after {signal} from {source}"},
	{IS_DRIVER, 0, 0, WHO "itself exited with code {code} after {duration}"},
	{SIGNALLED, 0, 0, WHO "exited with code {code} after {duration}, {since signal} after {signal} from {source}"},
	{0, 0, 0, WHO "exited with code {code} after {duration}"},
};

static const struct words source[] = {
	{FROM(SENDER_KERNEL), SIGINT, 0, "the terminal (^C)"},
	{FROM(SENDER_KERNEL), SIGQUIT, 0, "the terminal (^\\)"},
	{FROM(SENDER_KERNEL), SIGHUP, 0, "the terminal"},
	{FROM(SENDER_KERNEL), 0, 0, "the kernel"},
	{FROM(SENDER_SELF), 0, 0, "itself"},
	{0, 0, 0, "{sender and user}"},
};

#define CPU_LIMIT_WORDS "it reached its CPU time limit (RLIMIT_CPU)"
#define FILE_LIMIT_WORDS "it reached its file size limit (RLIMIT_FSIZE)"
#define BATCH_WORDS "{sender}, the batch system's daemon, ended the job: "

static const struct words why[] = {
	{OUT_OF_MEMORY | AT_LIMIT, 0, 0,
	 "its cgroup {cgroup} reached its memory limit of {limit} (at most {peak} used)"},
	{OUT_OF_MEMORY | HAS_PEAK | HAS_LIMIT, 0, 0,
	 "a parent cgroup or the host ran out of memory; its own cgroup {cgroup} used at most {peak} of its limit of "
	 "{limit}"},
	{OUT_OF_MEMORY | HAS_PEAK, 0, 0,
	 "the host ran out of memory: its cgroup {cgroup} has no limit and used at most {peak}"},
	{OUT_OF_MEMORY, 0, 0, "memory ran out; the memory limit of its cgroup is unknown"},
	{GPU_ERROR, 0, 0, "{device error} {since device error} before{other holders}"},

	{FROM(SENDER_SELF) | LIMITS_TIME, 0, 0, "its time limit was reached, and it terminated its command and itself"},
	{FROM(SENDER_SELF), 0, 0, "it sent the signal to itself"},
	{FROM(SENDER_PARENT), 0, 0, "its parent {sender} ended it"},
	{FROM(SENDER_ANCESTOR), 0, 0, "its ancestor {sender} ended it"},
	{FROM(SENDER_BATCH) | CANCELLED, 0, 0, BATCH_WORDS "{canceller} cancelled it"},
	{FROM(SENDER_BATCH), 0, 0, BATCH_WORDS "its time limit or another limit was reached, or it was cancelled"},
	{FROM(SENDER_ORIGIN), 0, 0, "{sender}, which starts services and sessions, ended it"},
	{FROM(SENDER_SAME_RUN), 0, 0, "{sender} of the same run ended it"},
	{FROM(SENDER_FOR_OTHERS), 0, 0, "{sender} of the same run ended it"},
	{FROM(SENDER_OTHER), 0, 0, "{sender}, which is not part of its run, ended it"},
	{FROM(SENDER_KERNEL), SIGINT, 0, "it was interrupted at its terminal"},
	{FROM(SENDER_KERNEL), SIGQUIT, 0, "it was quit at its terminal"},
	{FROM(SENDER_KERNEL), SIGHUP, 0, "its terminal was closed"},
	{FROM(SENDER_KERNEL), SIGALRM, 0, "its own timer expired"},
	{FROM(SENDER_KERNEL), SIGXCPU, 0, CPU_LIMIT_WORDS},
	{FROM(SENDER_KERNEL), SIGXFSZ, 0, FILE_LIMIT_WORDS},
	{FROM(SENDER_KERNEL) | CPU_LIMIT, SIGKILL, 0, CPU_LIMIT_WORDS},

	{KILLED, SIGXCPU, 0, CPU_LIMIT_WORDS},
	{KILLED, SIGXFSZ, 0, FILE_LIMIT_WORDS},
	{KILLED, SIGSEGV, 0, "invalid memory access"},
	{KILLED, SIGBUS, 0, "invalid memory access"},
	{KILLED, SIGILL, 0, "invalid instruction for this processor"},
	{KILLED, SIGFPE, 0, "arithmetic error, such as a division by zero"},
	{KILLED, SIGABRT, 0, "it called abort(3), as programs do when they detect an internal error"},
	{KILLED, SIGPIPE, 0, "it wrote to a pipe or socket whose reader had closed it"},
	{KILLED, 0, 0, ""},

	{NO_COMMAND, 0, 127, "the command does not exist"},
	{NO_COMMAND, 0, 0, "the command exists but cannot be executed"},
	{LIMITS_TIME, 0, 124, "its time limit was reached"},
	{IS_SHELL, 0, 127, "shells exit with 127 if a command does not exist"},
	{IS_SHELL, 0, 126, "shells exit with 126 if a command cannot be executed"},
	{IS_SHELL | CODE_OF_SIGNAL, 0, 0, "shells exit with {code} if {signal of code} killed a command"},
	/* A child's status is not the status of this process, so it is unknown whether it is the cause; it is not if
	 * another one was started since. Then the limits under which programs fail in their own way. */
	{FAILED_BEFORE, 0, 0, "possibly because {failed before}"},
	{MEMORY_LIMIT, 0, 0, "possibly because its address space was limited (RLIMIT_AS, ulimit -v)"},
	{FILE_LIMIT, 0, 0, "possibly because the size of its files was limited (RLIMIT_FSIZE, ulimit -f)"},
	{FAILED_CHILD, 0, 0, "its last failed command: {failed child}"},
	{0, 0, 0, ""},
};

/* The names of NVIDIA's catalogue of Xid errors: of those that are not only for its own use. */
static const char *const xids[] = {
	[13] = "graphics engine exception",
	[31] = "GPU memory page fault",
	[32] = "invalid or corrupted push buffer stream",
	[43] = "GPU stopped processing",
	[48] = "double bit ECC error",
	[62] = "internal micro-controller halt",
	[63] = "memory row remapping",
	[64] = "memory row remapping failed",
	[74] = "NVLink error",
	[79] = "GPU has fallen off the bus",
	[94] = "contained memory error",
	[95] = "uncontained memory error",
	[109] = "context switch timeout",
	[119] = "GSP RPC timeout",
	[120] = "GSP error",
};

/* ---- values */

static void add_duration(FILE *to, uint64_t since_boot_ns, uint64_t until_boot_ns)
{
	char text[DURATION_SIZE];

	fputs(duration_format(text, until_boot_ns > since_boot_ns ? until_boot_ns - since_boot_ns : 0, "µs"), to);
}

/* User names are local to a host; only root is the same everywhere. */
static void add_sender(FILE *to, const char *program, uint32_t pid, uint32_t uid)
{
	fprintf(to, "%s (pid %" PRIu32 ", ", program[0] ? program : "a process", pid);
	if (uid == 0)
		fprintf(to, "user root)");
	else
		fprintf(to, "uid %" PRIu32 ")", uid);
}

/* "SIGTERM", or "signal 70" if it has no name. */
static void add_signal(FILE *to, int number)
{
	const char *name = number > 0 && number < 64 ? sigabbrev_np(number) : NULL;

	if (name)
		fprintf(to, "SIG%s", name);
	else
		fprintf(to, "signal %d", number);
}

/* "nvidia0 reported Xid 31 (GPU memory page fault)" */
static void add_device_error(FILE *to, const struct device_error *error)
{
	bool is_xid = strncmp(error->device, "nvidia", strlen("nvidia")) == 0;

	fprintf(to, "%s reported %s %" PRIu32, error->device, is_xid ? "Xid" : "error", error->code);
	if (is_xid && error->code < sizeof(xids) / sizeof(xids[0]) && xids[error->code])
		fprintf(to, " (%s)", xids[error->code]);
}

static void add_other_holders(FILE *to, const struct device_error *error)
{
	if (error->holder_count > 1)
		fprintf(to, ", which %" PRIu32 " processes held", error->holder_count);
}

static void add_words(FILE *to, const struct words *words, const struct end *end);

/* Each row needs facts with which its values are known. */
static void add_value(FILE *to, const struct end *end, const char *name, size_t size)
{
	const struct image *image = end->image;
	const struct sent_signal *sent = end->sent;

#define VALUE(text, ...) \
	if (size == strlen(text) && memcmp(name, text, size) == 0) \
	__VA_ARGS__
	VALUE("program", fputs(image->tool->name, to));
	VALUE("pid", fprintf(to, "%" PRIu32, image->pid));
	VALUE("code", fprintf(to, "%d", end->code));
	VALUE("signal", add_signal(to, end->signal));
	VALUE("signal of code", add_signal(to, end->code - 128));
	VALUE("core", fputs(WCOREDUMP(image->wait_status) ? " and dumped core" : "", to));
	VALUE("duration", add_duration(to, image->begin_boot_ns, image->end_boot_ns));
	VALUE("since signal", add_duration(to, sent->boot_ns, image->end_boot_ns));
	VALUE("source", add_words(to, source, end));
	VALUE("sender", fputs(sent->program[0] ? sent->program : "a process", to));
	VALUE("sender and user", add_sender(to, sent->program, sent->sender_pid, sent->sender_uid));
	VALUE("canceller", add_sender(to, end->cancel->program, end->cancel->pid, end->cancel->uid));
	VALUE("cgroup", fputs(end->cgroup->path, to));
	VALUE("limit", fprintf(to, "%.1f MiB", MIB(end->limit)));
	VALUE("peak", fprintf(to, "%.1f MiB", MIB(end->peak)));
	VALUE("device error", add_device_error(to, image->device_error));
	VALUE("since device error", add_duration(to, image->device_error->boot_ns, image->end_boot_ns));
	VALUE("other holders", add_other_holders(to, image->device_error));
	VALUE("failed before", fputs(end->failed_before->cause->what, to));
	VALUE("failed child", fputs(end->failed_child->cause->what, to));
#undef VALUE
}

static void add_template(FILE *to, const char *text, const struct end *end)
{
	while (*text) {
		size_t size = strcspn(text, "{");

		fwrite(text, 1, size, to);
		text += size;
		if (!*text)
			return;
		size = strcspn(++text, "}");
		add_value(to, end, text, size);
		text += size + 1;
	}
}

static void add_words(FILE *to, const struct words *words, const struct end *end)
{
	int facts = facts_of(end);

	while ((words->facts & ~facts) || (words->signal && words->signal != end->signal) ||
	       (words->code && words->code != end->code))
		words++;
	add_template(to, words->text, end);
}

static char *compose(struct model *model, const struct words *words, const struct end *end)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (to) {
		add_words(to, words, end);
		if (fclose(to) == 0)
			return text;
	}
	free(text);
	model->out_of_memory = true;
	return NULL;
}

/* ---- ends */

static const struct ending *last_failed(const struct ending *endings)
{
	const struct ending *ending, *last = NULL;

	DL_FOREACH (endings, ending)
		if (ending->kind == ENDING_FAILED)
			last = ending;
	return last;
}

void sentence_of_end(char **ret_what, char **ret_why, struct model *model, const struct image *image,
		     enum cause_kind kind, const struct sent_signal *sent)
{
	const struct ending *endings = image->process->endings;
	const struct cgroup *cgroup = kind == CAUSE_OOM ? cgroup_find(model, image->process->cgroup_id) : NULL;
	struct end end = {
		.image = image,
		.kind = kind,
		.signal = sent ? (int)sent->signal : WTERMSIG(image->wait_status),
		.code = WEXITSTATUS(image->wait_status),
		.sent = sent,
		.cancel = sent ? sender_find_cancel(image->tool->group->task->run, sent->boot_ns) : NULL,
		.failed_before = ending_before(endings, image->end_boot_ns),
		.failed_child = last_failed(endings),
		.cgroup = cgroup,
		.limit = cgroup ? cgroup->limits.memory_limit_bytes : ROW_NULL,
		.peak = cgroup ? cgroup->limits.cgroup_peak_bytes : ROW_NULL,
	};

	*ret_what = compose(model, what, &end);
	*ret_why = compose(model, why, &end);
}

char *sentence_of_device_error(struct model *model, const struct image *image)
{
	static const struct words held = {0, 0, 0, WHO "held a GPU with an error: {device error}{other holders}"};

	return compose(model, &held, &(const struct end){.image = image});
}
