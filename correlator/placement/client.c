/* Which client asked for a container.
 *
 * What `docker run` asks for is started by a daemon, so ancestry does not tell who asked, and neither does
 * anything else that the kernel shows. Therefore the container's first process is compared with the clients
 * that wait: a client names the command, the directory and the user. The command decides, because a client may wait
 * for long (it pulls an image, or its engine is on another host), and meanwhile others start containers. That
 * only one client waits proves nothing.
 *
 * `docker run IMAGE` names no command. It is believed to wait for a container that starts
 * soon after it; else that container is a run of its own, which is better than a stranger's in its task.
 */
#include "correlator/placement/client.h"

#include <utlist.h>

#include "correlator/model/command.h"
#include "correlator/model/container.h"
#include "correlator/model/container_name.h"
#include "correlator/model/image.h"
#include "correlator/model/model.h"
#include "correlator/model/process.h"

/* What a word of the command adds to how well a client fits: more than all else together. */
#define FIT_OF_WORD 4

/* An engine starts a container of an image that it has in about a second. */
#define START_SOON_NS (10 * UINT64_C(1000000000))

/* Secrets are recognised by what is around them, so one may be redacted in one command line only. */
static bool is_same_word(const char *asked, const char *found)
{
	return strcmp(asked, found) == 0 || strstr(asked, REDACT_MARK) || strstr(found, REDACT_MARK);
}

/* Whether the process executes the command that begins at argv[first] of the client: its last words are the
 * same (an entrypoint comes before them), or, if the client's arguments were cut, those that are known. */
static bool is_asked_command(const struct command *client, size_t first, const struct command *process)
{
	const char *const *asked = client->subject.argv + first, *const *found = process->subject.argv;
	bool is_cut = client->flags & RECORD_ARGV_TRUNCATED;
	size_t count = client->subject.argc - first - is_cut, at, same;

	if (count > process->subject.argc)
		return false;
	for (at = is_cut ? 0 : process->subject.argc - count; at <= process->subject.argc - count; at++) {
		/* A #! script is executed by its path. */
		same = count > 0 && strcmp(command_base_name(asked[0]), command_base_name(found[at])) == 0;
		while (same < count && is_same_word(asked[same], found[at + same]))
			same++;
		if (same == count)
			return true;
	}
	return false;
}

static bool is_named(const struct container *container, const struct rules_container *label)
{
	if (label->id && strcmp(label->id, container->runtime_id) != 0)
		return false;
	return label->verb == RULES_CONTAINER_RUN || !label->name || !container->name ||
	       strcmp(label->name, container->name) == 0 ||
	       strncmp(label->name, container->runtime_id, strlen(label->name)) == 0;
}

static bool is_directory(const struct process *process, const char *directory)
{
	return directory[0] && directory[1] && strcmp(process->command->working_directory, directory) == 0;
}

static bool is_user(const struct process *process, const char *user)
{
	char *end;

	return user && strtoul(user, &end, 10) == process->uid && end != user && (*end == '\0' || *end == ':');
}

/* Returns how well `client` fits the process, 0: not at all. */
static size_t fit(const struct model *model, const struct image *client, const struct process *process,
		  const struct container *container, bool is_entering)
{
	const struct command *command = client->command;
	struct rules_container label;

	if (!command || client->begin_boot_ns > process->fork_boot_ns)
		return 0;
	rules_read_container(model->options.rules, &command->subject, &label);
	/* What is restarted has had a client. */
	if (is_entering != (label.verb == RULES_CONTAINER_EXEC) ||
	    (label.verb == RULES_CONTAINER_RUN && container->run_id != ROW_NULL) || !is_named(container, &label))
		return 0;
	size_t word_count = command->subject.argc - label.command_index;

	if (label.verb == RULES_CONTAINER_START || word_count == 0 || process->command->flags & RECORD_ARGV_UNKNOWN) {
		if (process->fork_boot_ns > client->begin_boot_ns + START_SOON_NS)
			return 0;
		word_count = 0;
	} else if (!is_asked_command(command, label.command_index, process->command)) {
		return 0;
	}
	return 1 + FIT_OF_WORD * word_count +
	       2 * is_directory(process, label.directory ? label.directory : command->working_directory) +
	       is_user(process, label.user);
}

static bool may_have_asked(const struct process *client, const struct process *process, const struct process *keeper)
{
	return client && !client->ended && !client->has_container && client->place == PLACE_FULL && process->command &&
	       (keeper->uid == 0 || keeper->uid == client->uid);
}

struct process *client_take(struct model *model, const struct process *process, const struct process *keeper,
			    const struct container *container, bool is_entering)
{
	const struct image *image, *best = NULL;
	size_t best_fit = 0;
	bool is_contested = false;

	/* The kubelet starts and enters them for no client on this host. */
	if (cgroup_is_of_pod(container->cgroup_path))
		return NULL;
	/* The oldest comes first. */
	DL_FOREACH2 (model->clients, image, linked_next) {
		size_t this_fit = may_have_asked(image->process, process, keeper)
					  ? fit(model, image, process, container, is_entering)
					  : 0;
		bool names = this_fit >= FIT_OF_WORD, best_names = best_fit >= FIT_OF_WORD;

		if (this_fit == 0 || (best_names && !names))
			continue;
		/* Anyone can execute a client, whether or not the engine obeys, and read what others ask for: if clients
		 * of two users name the command, or none does, it is not known who asked. */
		is_contested =
			best && names == best_names && (is_contested || image->process->uid != best->process->uid);
		if (this_fit > best_fit) {
			best = image;
			best_fit = this_fit;
		}
	}
	if (!best || is_contested)
		return NULL;
	best->process->has_container = true;
	process_set_changed(model, best->process);
	return best->process;
}
