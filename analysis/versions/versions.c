/* The software that a run executed, in which version. See versions.h. */
#include "analysis/versions/versions.h"

#include <errno.h>
#include <string.h>

#include "common/grow.h"

#define WORDS_MAX 512 /* of a command line: what an interpreter runs, and images, are among the first */

/* The image of a container, by the container's id; of clients without one (Apptainer) by its name alone. */
struct version_image {
	UT_hash_handle hh;
	int64_t id;
	const char *name;
};

struct walk {
	struct versions *versions;
	versions_take *take;
	void *context;
	size_t index;
	const struct row_task *task;
	const struct row_tool *tools;
	size_t tool_count;
	struct version_use *uses;
	size_t use_count, capacity;
	const char *image;      /* of the files that a wrapper gives the programs of the task; NULL: unknown, or none */
	const char *last_image; /* that was copied */
	bool in_image;          /* there is such a wrapper */
};

/* ---- software ---------------------------------------------------------------------- */

static const char *copy(struct versions *versions, const char *text)
{
	return arena_copy(&versions->texts, text, strlen(text));
}

static int version_set(struct versions *versions, struct software *software, enum version_basis basis,
		       const char *package, const char *version)
{
	software->basis = basis;
	software->package = copy(versions, package);
	software->version = copy(versions, version);
	return software->package && software->version ? 0 : -ENOMEM;
}

/* `program` is the file's name. The version is said of the program or of the tool that it is called. */
static bool version_read(const struct versions *versions, enum rules_version_source source,
			 const struct software *software, const char *program, const char *text,
			 struct rules_version *found)
{
	return text && (rules_read_version(versions->rules, source, software->name, text, found) ||
			rules_read_version(versions->rules, source, program, text, found));
}

static int software_resolve(struct versions *versions, struct software *software, bool is_local, int64_t began_unix_ns)
{
	const char *slash = software->path ? strrchr(software->path, '/') : NULL;
	const char *program = slash ? slash + 1 : software->name;
	struct package_owner owner;
	struct rules_version found;

	if (version_read(versions, RULES_VERSION_PATH, software, program, software->path, &found))
		return version_set(versions, software, VERSION_OF_PATH, found.package, found.version);
	if (version_read(versions, RULES_VERSION_IMAGE, software, program, software->image, &found))
		return version_set(versions, software, VERSION_OF_IMAGE, found.package, found.version);
	if (!is_local || !software->path || !owners_find(versions->owners, software->path, began_unix_ns, &owner))
		return 0;
	software->manager = owner.manager;
	return version_set(versions, software, VERSION_OF_PACKAGE, owner.package, owner.version);
}

/* The first word of the tool's name, unless all of it is the file's. */
static size_t name_size(const struct row_tool *tool, const char *program)
{
	return program && strcmp(tool->name, program) == 0 ? strlen(tool->name) : strcspn(tool->name, " ");
}

static struct software *software_new(struct versions *versions, const char *key, size_t size, const char *path,
				     const char *image)
{
	struct software *software = calloc(1, sizeof(*software) + size);

	if (!software)
		return NULL;
	memcpy(software->key, key, size);
	software->name = software->key;
	software->path = path ? software->name + strlen(software->name) + 1 : NULL;
	software->image = image ? software->key + size - strlen(image) - 1 : NULL;
	software->number = ++versions->software_count;
	software->task = SIZE_MAX;
	HASH_ADD_KEYPTR(hh, versions->software, software->key, size, software);
	return software;
}

/* Adds the software if it is new. Sets NULL, and counts, beyond the bound. */
static int software_find(struct versions *versions, const struct row_tool *tool, const struct row_process *process,
			 const char *path, const char *image, bool is_local, struct software **ret_software)
{
	size_t size = name_size(tool, process ? process->program : NULL), capacity;
	char *key = malloc(size + (path ? strlen(path) : 0) + (image ? strlen(image) : 0) + 5), *end = key;
	int error = 0;

	if (!key)
		return -ENOMEM;
	/* Present texts are marked, so that no two keys are the same. */
	end = (char *)memcpy(end, tool->name, size) + size;
	*end++ = '\0';
	end = stpcpy(end, path ? path : "") + 1;
	*end++ = is_local ? 'l' : '-';
	end = stpcpy(end, image ? image : "") + 1;
	capacity = (size_t)(end - key);
	HASH_FIND(hh, versions->software, key, capacity, *ret_software);
	if (!*ret_software && versions->software_count == VERSIONS_SOFTWARE_MAX) {
		versions->left_out_count++;
	} else if (!*ret_software) {
		*ret_software = software_new(versions, key, capacity, path, image);
		error = *ret_software ? software_resolve(versions, *ret_software, is_local,
							 process ? process->started_unix_ns : 0)
				      : -ENOMEM;
	}
	free(key);
	return error;
}

/* ---- images ------------------------------------------------------------------------ */

static int container_take(void *context, const void *row)
{
	const struct row_container *container = row;
	struct versions *versions = context;
	struct version_image *image;

	HASH_FIND(hh, versions->images, &container->id, sizeof(container->id), image);
	if (image || !container->image)
		return 0;
	image = arena_alloc(&versions->texts, sizeof(*image));
	if (!image)
		return -ENOMEM;
	*image = (struct version_image){.id = container->id, .name = copy(versions, container->image)};
	HASH_ADD(hh, versions->images, id, sizeof(image->id), image);
	return image->name ? 0 : -ENOMEM;
}

/* Splits a command line; returns the number of words. */
static size_t words_split(const struct row_blob *arguments, const char **words)
{
	const char *text = arguments->data;
	size_t count = 0;

	if (!text)
		return 0;
	for (size_t at = 0; at < arguments->size && count < WORDS_MAX; at += strlen(text + at) + 1)
		words[count++] = text + at;
	return count;
}

static struct rules_subject subject_of(const struct row_process *process, const char **words)
{
	size_t count = words_split(&process->arguments, words);

	return (struct rules_subject){
		.path = process->path ? process->path : process->program,
		.argc = count,
		.argv = words,
		.working_directory = "",
		.cgroup = "",
	};
}

/* Returns the image that the command line of such a wrapper names, or NULL. */
static const char *client_image(const struct walk *walk, const struct rules_subject *subject)
{
	struct rules_container container;

	rules_read_container(walk->versions->rules, subject, &container);
	return container.verb == RULES_CONTAINER_EXEC ? container.name : container.image;
}

/* Notes that a wrapper gives its command other files (chroot), and of which image (Apptainer): it becomes the command, so all of
 * the task that follows may see these. */
static int wrapper_take(struct walk *walk, const struct row_process *process)
{
	const char *words[WORDS_MAX], *image;
	struct rules_subject subject = subject_of(process, words);
	struct rules_class class;

	rules_classify(walk->versions->rules, &subject, &class);
	if (!(class.traits & RULES_CHANGES_ROOT))
		return 0;
	image = client_image(walk, &subject);
	if (walk->in_image && image && (!walk->image || strcmp(walk->image, image) != 0))
		walk->image = NULL; /* one of several */
	else if (image && (!walk->last_image || strcmp(walk->last_image, image) != 0))
		walk->image = walk->last_image = copy(walk->versions, image);
	else if (image)
		walk->image = walk->last_image;
	walk->in_image = true;
	return image && !walk->last_image ? -ENOMEM : 0;
}

/* ---- the walk ---------------------------------------------------------------------- */

static bool is_software(const char *role)
{
	return strcmp(role, "tool") == 0 || strcmp(role, "orchestrator") == 0;
}

static int use_add(struct walk *walk, struct software *software, bool is_execution)
{
	struct version_use *uses;

	if (!software)
		return 0;
	if (software->task != walk->index) {
		uses = grow(walk->uses, &walk->capacity, walk->use_count + 1, sizeof(*uses));
		if (!uses)
			return -ENOMEM;
		walk->uses = uses;
		software->task = walk->index;
		software->use_index = walk->use_count;
		uses[walk->use_count++] = (struct version_use){.software = software};
		software->task_count++;
	}
	walk->uses[software->use_index].process_count += is_execution;
	software->process_count += is_execution;
	return 0;
}

/* Java runs a class of a jar: /opt/nextflow-23.10.1-one.jar of the tool nextflow. NULL: no such word. */
static const char *jar_path(const struct row_tool *tool, const char *const *words, size_t count)
{
	size_t size = strcspn(tool->name, " ");

	for (size_t i = 1; i < count; i++) {
		const char *slash = strrchr(words[i], '/'), *end = words[i] + strlen(words[i]);

		if (slash && strncmp(slash + 1, tool->name, size) == 0 && end - slash > 4 &&
		    strcmp(end - 4, ".jar") == 0)
			return words[i];
	}
	return NULL;
}

/* The path of what runs: of a script, not of its interpreter. NULL: unknown. */
static const char *program_path(const struct walk *walk, const struct row_tool *tool, const struct row_process *process,
				const char **words)
{
	const char *slash = strrchr(process->path, '/'), *base = slash ? slash + 1 : process->path;
	struct rules_subject subject;
	struct rules_class class;

	if (strncmp(tool->name, base, strcspn(tool->name, " ")) == 0)
		return process->path;
	subject = subject_of(process, words);
	rules_classify(walk->versions->rules, &subject, &class);
	return strchr(class.path, '/') ? class.path : jar_path(tool, words, subject.argc);
}

static const struct row_tool *tool_find(const struct walk *walk, int64_t id)
{
	for (size_t i = 0; i < walk->tool_count; i++)
		if (walk->tools[i].id == id)
			return &walk->tools[i];
	return NULL;
}

static const char *process_image(const struct walk *walk, int64_t container_id)
{
	const struct version_image *image;

	if (container_id == ROW_NULL)
		return walk->image;
	HASH_FIND(hh, walk->versions->images, &container_id, sizeof(container_id), image);
	return image ? image->name : walk->image;
}

static bool is_local(const struct walk *walk, int64_t container_id)
{
	const struct owners *owners = walk->versions->owners;

	return owners && container_id == ROW_NULL && !walk->in_image && owners_host_id(owners) == walk->task->host_id;
}

static int process_take(void *context, const struct row_process *process, bool is_last)
{
	struct walk *walk = context;
	const struct row_tool *tool = tool_find(walk, process->tool_id);
	const char *words[WORDS_MAX];
	struct software *software;
	int error;

	if (strcmp(process->role, "wrapper") == 0)
		return wrapper_take(walk, process);
	/* Without a path it executes what its parent does: the same tool, which has one. */
	if (!tool || !process->path || strcmp(process->began, "fork") == 0 || !is_software(process->role))
		return 0;
	error = software_find(walk->versions, tool, process, program_path(walk, tool, process, words),
			      process_image(walk, process->container_id), is_local(walk, process->container_id),
			      &software);
	return error < 0 ? error : use_add(walk, software, true);
}

static int task_take(void *context, size_t index, const struct row_task *task, const struct row_tool *tools,
		     size_t count)
{
	struct walk *walk = context;
	const struct version_image *run_image = walk->versions->run_image;

	walk->index = index;
	walk->task = task;
	walk->tools = tools;
	walk->tool_count = count;
	walk->use_count = 0;
	walk->in_image = run_image != NULL;
	walk->image = run_image ? run_image->name : NULL;
	return 0;
}

static bool is_used(const struct walk *walk, const struct row_tool *tool)
{
	for (size_t i = 0; i < walk->use_count; i++) {
		const char *name = walk->uses[i].software->name;
		size_t size = strlen(name);

		if (strncmp(tool->name, name, size) == 0 && (tool->name[size] == '\0' || tool->name[size] == ' '))
			return true;
	}
	return false;
}

static int task_end(void *context)
{
	struct walk *walk = context;
	struct versions *versions = walk->versions;
	struct software *software;
	int error = 0;

	for (size_t i = 0; i < walk->tool_count && error == 0; i++) {
		if (!is_software(walk->tools[i].role) || is_used(walk, &walk->tools[i]))
			continue;
		error = software_find(versions, &walk->tools[i], NULL, NULL,
				      process_image(walk, walk->task->container_id), false, &software);
		if (error == 0)
			error = use_add(walk, software, false);
	}
	/* A client in the run's own pseudo-task may be what runs all the others, which follow. */
	if (error == 0 && versions->report->tasks[walk->index].is_main && walk->in_image && !versions->run_image) {
		struct version_image *image = arena_alloc(&versions->texts, sizeof(*image));

		if (!image)
			return -ENOMEM;
		*image = (struct version_image){.name = walk->image};
		versions->run_image = image;
	}
	return error < 0 ? error : walk->take(walk->context, walk->index, walk->task, walk->uses, walk->use_count);
}

int versions_walk(struct versions *versions, versions_take *take, void *context)
{
	const struct report_writer writer = {
		.task = task_take, .process = process_take, .task_end = task_end, .with_tools = true};
	struct walk walk = {.versions = versions, .take = take, .context = context};
	int error = report_each(versions->report, REPORT_CONTAINERS, container_take, versions);

	if (error == 0)
		error = report_walk(versions->report, NULL, 0, &writer, &walk);
	free(walk.uses);
	return error;
}

void versions_free(struct versions *versions)
{
	struct software *software, *next;

	HASH_ITER (hh, versions->software, software, next) {
		HASH_DEL(versions->software, software);
		free(software);
	}
	HASH_CLEAR(hh, versions->images);
	arena_deinit(&versions->texts);
}
