/* ro-crate-metadata.json of a Process Run Crate 0.5 (https://w3id.org/ro/wfrun/process/0.5): an action for each task, with the
 * software that it executed, in which version and image, and what it used (resourceUsage, as in the Provenance Run Crate).
 *
 * The store has no files: actions have neither `object` nor `result`. Arguments, directories and paths are left out: a crate is
 * made to be published. Ids come from the store's: exporting twice gives the same crate.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "analysis/export/formats.h"
#include "analysis/query/units.h"
#include "common/identity.h"

#define NS_PER_S INT64_C(1000000000)
#define NS_PER_MS 1000000
#define QUDT "https://qudt.org/vocab/unit/"
#define PROFILE "https://w3id.org/ro/wfrun/process/0.5"
#define RO_CRATE "https://w3id.org/ro/crate/1.1"
#define STATUS(name) "http://schema.org/" name "ActionStatus"

/* What tasks used. An unknown value is left out. */
static const struct measure {
	const char *name, *meaning, *unit;
	size_t offset; /* in struct row_task */
} measures[] = {
	{"cpu_ns", "CPU time of all its processes", QUDT "NanoSEC", offsetof(struct row_task, cpu_ns)},
	{"peak_rss_bytes", "Largest resident set of one process", QUDT "BYTE",
	 offsetof(struct row_task, peak_rss_bytes)},
	{"concurrent_memory_bytes", "Largest sum of anonymous and shared memory of all processes, sampled", QUDT "BYTE",
	 offsetof(struct row_task, concurrent_memory_bytes)},
	{"read_bytes", "Read from storage", QUDT "BYTE", offsetof(struct row_task, read_bytes)},
	{"write_bytes", "Written to storage", QUDT "BYTE", offsetof(struct row_task, write_bytes)},
	{"gpu_busy_ns", "Time that GPUs worked for it", QUDT "NanoSEC", offsetof(struct row_task, gpu_busy_ns)},
	{"gpu_peak_bytes", "Largest GPU memory of one process", QUDT "BYTE", offsetof(struct row_task, gpu_peak_bytes)},
	{"gpu_energy_uj", "Energy of GPUs while one of its processes alone held them", QUDT "MicroJ",
	 offsetof(struct row_task, gpu_energy_uj)},
};

#define MEASURE_COUNT (sizeof(measures) / sizeof(*measures))

struct user {
	UT_hash_handle hh;
	int64_t id;
};

struct image {
	UT_hash_handle hh;
	const char *name;
};

struct crate {
	struct versions *versions;
	struct json_writer json;
	const char *separator; /* before the next item of the list being written */
	struct user *users;    /* that were written */
	int error;
};

/* ---- parts ------------------------------------------------------------------------- */

static void item_begin(struct crate *crate)
{
	json_write_text(&crate->json, crate->separator);
	crate->separator = ",";
}

static void entity_begin(struct crate *crate, const char *id, const char *type)
{
	json_write_text(&crate->json, ",\n");
	json_write_object(&crate->json);
	json_write_string(&crate->json, "@id", id);
	json_write_string(&crate->json, "@type", type);
}

static void entity_end(struct crate *crate)
{
	json_write_text(&crate->json, "}");
}

static void list_begin(struct crate *crate, const char *name)
{
	json_write_text(&crate->json, ",\"");
	json_write_text(&crate->json, name);
	json_write_text(&crate->json, "\":[");
	crate->separator = "";
}

static void list_end(struct crate *crate)
{
	json_write_text(&crate->json, "]");
	crate->json.has_members = true;
}

static void reference_add(struct crate *crate, const char *id)
{
	item_begin(crate);
	json_write_object(&crate->json);
	json_write_string(&crate->json, "@id", id);
	json_write_text(&crate->json, "}");
}

static void reference_set(struct crate *crate, const char *name, const char *id)
{
	json_write_text(&crate->json, ",\"");
	json_write_text(&crate->json, name);
	json_write_text(&crate->json, "\":");
	crate->separator = "";
	reference_add(crate, id);
}

/* "2026-11-27T03:02:02.123+00:00" */
static void time_set(struct crate *crate, const char *name, int64_t unix_ns)
{
	time_t seconds = unix_ns / NS_PER_S;
	char text[64], whole[32];
	struct tm utc;

	if (unix_ns < 0 || !gmtime_r(&seconds, &utc))
		return;
	strftime(whole, sizeof(whole), "%Y-%m-%dT%H:%M:%S", &utc);
	snprintf(text, sizeof(text), "%s.%03d+00:00", whole, (int)(unix_ns % NS_PER_S / NS_PER_MS));
	json_write_string(&crate->json, name, text);
}

#define ID_SIZE 64

static const char *id_of(char text[ID_SIZE], const char *kind, int64_t number, const char *part)
{
	char digits[IDENTITY_TEXT_SIZE];

	identity_format(number, digits);
	snprintf(text, ID_SIZE, "#%s-%s%s%s", kind, digits, part ? "-" : "", part ? part : "");
	return text;
}

static int64_t image_id(const char *name)
{
	struct identity identity;

	identity_begin(&identity, "image");
	identity_add_bytes(&identity, name, strlen(name));
	return identity_end(&identity);
}

static const char *software_id(char text[ID_SIZE], const struct software *software)
{
	snprintf(text, ID_SIZE, "#software-%zu", software->number);
	return text;
}

/* ---- an action --------------------------------------------------------------------- */

static int64_t measure_of(const struct row_task *task, size_t index)
{
	return *(const int64_t *)((const char *)task + measures[index].offset);
}

static void status_write(struct crate *crate, const struct row_task *task)
{
	char text[64];

	if (strcmp(task->status, "succeeded") == 0) {
		json_write_string(&crate->json, "actionStatus", STATUS("Completed"));
	} else if (strcmp(task->status, "running") == 0) {
		json_write_string(&crate->json, "actionStatus", STATUS("Active"));
	} else if (report_has_failed(task->status)) {
		json_write_string(&crate->json, "actionStatus", STATUS("Failed"));
		snprintf(text, sizeof(text), task->signal > 0 ? "signal %" PRId64 : "exit status %" PRId64,
			 task->signal > 0 ? task->signal : task->exit_code);
		if (task->signal > 0 || task->exit_code != ROW_NULL)
			json_write_string(&crate->json, "error", text);
	}
}

/* Readers take an action without a status for a success. */
static void description_write(struct crate *crate, const struct row_task *task)
{
	const struct report *report = crate->versions->report;
	const struct row_run run = {.host_id = task->host_id};
	const struct row_host *host = report_host_of(report, &run);
	char *text = NULL;
	bool is_known = strcmp(task->status, "ended") != 0;

	if (asprintf(&text, "%s%s%s%s", units_counted(task->process_count, false, "process", "processes"),
		     host ? " on " : "", host ? host->hostname : "",
		     is_known ? "" : "; whether it succeeded is unknown") < 0) {
		crate->error = -ENOMEM;
		return;
	}
	export_json_text(&crate->json, "description", text);
	free(text);
}

static void instruments_write(struct crate *crate, const struct row_task *task, const struct version_use *uses,
			      size_t count)
{
	char id[ID_SIZE];

	list_begin(crate, "instrument");
	for (size_t i = 0; i < count; i++)
		reference_add(crate, software_id(id, uses[i].software));
	if (count == 0)
		reference_add(crate, id_of(id, "task", task->id, "script"));
	list_end(crate);
}

static bool has_image_before(const struct version_use *uses, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (uses[i].software->image && strcmp(uses[i].software->image, uses[index].software->image) == 0)
			return true;
	return false;
}

static void images_write(struct crate *crate, const struct version_use *uses, size_t count)
{
	char id[ID_SIZE];
	bool is_open = false;

	for (size_t i = 0; i < count; i++) {
		const char *image = uses[i].software->image;

		if (!image || has_image_before(uses, i))
			continue;
		if (!is_open)
			list_begin(crate, "containerImage");
		is_open = true;
		reference_add(crate, id_of(id, "image", image_id(image), NULL));
	}
	if (is_open)
		list_end(crate);
}

static void usage_write(struct crate *crate, const struct row_task *task)
{
	char id[ID_SIZE];

	list_begin(crate, "resourceUsage");
	for (size_t i = 0; i < MEASURE_COUNT; i++)
		if (measure_of(task, i) != ROW_NULL)
			reference_add(crate, id_of(id, "task", task->id, measures[i].name));
	list_end(crate);
}

static void usage_entities_write(struct crate *crate, const struct row_task *task)
{
	char id[ID_SIZE], value[24];

	for (size_t i = 0; i < MEASURE_COUNT; i++) {
		if (measure_of(task, i) == ROW_NULL)
			continue;
		entity_begin(crate, id_of(id, "task", task->id, measures[i].name), "PropertyValue");
		json_write_string(&crate->json, "name", measures[i].name);
		snprintf(id, sizeof(id), "#%s", measures[i].name);
		reference_set(crate, "propertyID", id);
		json_write_string(&crate->json, "unitCode", measures[i].unit);
		snprintf(value, sizeof(value), "%" PRId64, measure_of(task, i)); /* JSON's numbers have 53 bits */
		json_write_string(&crate->json, "value", value);
		entity_end(crate);
	}
}

static int user_write(struct crate *crate, int64_t user_id)
{
	struct user *user;
	char id[ID_SIZE];

	HASH_FIND(hh, crate->users, &user_id, sizeof(user_id), user);
	if (user)
		return 0;
	user = calloc(1, sizeof(*user));
	if (!user)
		return -ENOMEM;
	user->id = user_id;
	HASH_ADD(hh, crate->users, id, sizeof(user->id), user);
	snprintf(id, sizeof(id), "#user-%" PRId64, user_id);
	entity_begin(crate, id, "Person");
	export_json_text(&crate->json, "name", units_user(user_id));
	entity_end(crate);
	return 0;
}

static int action_write(void *context, size_t index, const struct row_task *task, const struct version_use *uses,
			size_t count)
{
	struct crate *crate = context;
	const struct report *report = crate->versions->report;
	int64_t user_id = ROWS_ITEM(&report->parts, part, report->tasks[index].part)->run.user_id;
	int64_t wall_ns = row_subtract(task->end_boot_ns, task->begin_boot_ns);
	const char *label = report_task_label(report, index, task);
	char *name = NULL;
	char id[ID_SIZE];
	int error = 0;

	if (asprintf(&name, "%s%s%s", report_task_name(report, index, task), label && *label ? " " : "",
		     label ? label : "") < 0)
		return -ENOMEM;
	entity_begin(crate, id_of(id, "task", task->id, NULL), "CreateAction");
	export_json_text(&crate->json, "name", name);
	free(name);
	description_write(crate, task);
	time_set(crate, "startTime", task->started_unix_ns);
	if (wall_ns != ROW_NULL && task->started_unix_ns != ROW_NULL)
		time_set(crate, "endTime", row_add(task->started_unix_ns, wall_ns));
	status_write(crate, task);
	instruments_write(crate, task, uses, count);
	images_write(crate, uses, count);
	usage_write(crate, task);
	snprintf(id, sizeof(id), "#user-%" PRId64, user_id);
	if (user_id != ROW_NULL)
		reference_set(crate, "agent", id);
	entity_end(crate);
	usage_entities_write(crate, task);
	if (count == 0) {
		entity_begin(crate, id_of(id, "task", task->id, "script"), "SoftwareApplication");
		export_json_text(&crate->json, "name", report_task_name(report, index, task));
		entity_end(crate);
	}
	if (user_id != ROW_NULL)
		error = user_write(crate, user_id);
	return error ? error : crate->error ? crate->error : crate->json.error;
}

/* ---- the rest ---------------------------------------------------------------------- */

static void software_write(struct crate *crate, const struct software *software)
{
	static const char *const bases[] = {
		[VERSION_OF_PATH] = "version as in the program's path",
		[VERSION_OF_IMAGE] = "version as in the name of the container image",
		[VERSION_OF_PACKAGE] = "version of the package that owned the program at the time of export",
		[VERSION_UNKNOWN] = "version unknown",
	};
	char id[ID_SIZE];

	entity_begin(crate, software_id(id, software), "SoftwareApplication");
	export_json_text(&crate->json, "name", software->name);
	if (software->version)
		export_json_text(&crate->json, "softwareVersion", software->version);
	json_write_string(&crate->json, "description", bases[software->basis]);
	entity_end(crate);
}

static bool is_file(const char *image)
{
	const char *dot = strrchr(image, '.');

	return *image == '/' || *image == '.' ||
	       (dot && (strcmp(dot, ".sif") == 0 || strcmp(dot, ".simg") == 0 || strcmp(dot, ".img") == 0));
}

/* REGISTRY/NAME:TAG@DIGEST, of which only the name is always there; or a file, of which the folder is left out. */
static void reference_parse(struct crate *crate, char *image)
{
	char *scheme = strstr(image, "://"), *name = scheme ? scheme + 3 : image, *slash = strchr(name, '/'), *tag;

	if (slash && strcspn(name, ".:") < (size_t)(slash - name)) {
		*slash = '\0';
		export_json_text(&crate->json, "registry", name);
		name = slash + 1;
	}
	name[strcspn(name, "@")] = '\0';
	tag = strrchr(name, ':');
	if (tag && !strchr(tag, '/'))
		*tag++ = '\0';
	else
		tag = NULL;
	export_json_text(&crate->json, "name", name);
	if (tag)
		export_json_text(&crate->json, "tag", tag);
}

static int image_write(struct crate *crate, const char *name)
{
	char *image = strdup(name);
	const char *slash = strrchr(name, '/');
	char id[ID_SIZE];

	if (!image)
		return -ENOMEM;
	entity_begin(crate, id_of(id, "image", image_id(name), NULL), "ContainerImage");
	reference_set(crate, "additionalType",
		      is_file(name) ? "https://w3id.org/ro/terms/workflow-run#SIFImage"
				    : "https://w3id.org/ro/terms/workflow-run#DockerImage");
	if (is_file(name))
		export_json_text(&crate->json, "name", slash && slash[1] ? slash + 1 : name);
	else
		reference_parse(crate, image);
	entity_end(crate);
	free(image);
	return 0;
}

static int software_write_all(struct crate *crate)
{
	struct image *images = NULL, *image, *next;
	int error = 0;

	for (const struct software *software = crate->versions->software; software && error == 0;
	     software = software->hh.next) {
		software_write(crate, software);
		if (!software->image)
			continue;
		HASH_FIND_STR(images, software->image, image);
		if (image)
			continue;
		image = calloc(1, sizeof(*image));
		if (!image) {
			error = -ENOMEM;
			break;
		}
		image->name = software->image;
		HASH_ADD_KEYPTR(hh, images, image->name, strlen(image->name), image);
		error = image_write(crate, image->name);
	}
	HASH_ITER (hh, images, image, next) {
		HASH_DEL(images, image);
		free(image);
	}
	return error;
}

static void measures_write(struct crate *crate)
{
	char id[ID_SIZE];

	for (size_t i = 0; i < MEASURE_COUNT; i++) {
		snprintf(id, sizeof(id), "#%s", measures[i].name);
		entity_begin(crate, id, "DefinedTerm");
		json_write_string(&crate->json, "name", measures[i].name);
		json_write_string(&crate->json, "termCode", measures[i].name);
		json_write_string(&crate->json, "description", measures[i].meaning);
		entity_end(crate);
	}
}

/* The descriptor of the file, the crate, and its profile. */
static void root_write(struct crate *crate)
{
	const struct report *report = crate->versions->report;
	char id[ID_SIZE];

	json_write_text(&crate->json, "{\"@context\":[\"" RO_CRATE "/context\","
				      "\"https://w3id.org/ro/terms/workflow-run/context\"],\n\"@graph\":[\n"
				      "{\"@id\":\"ro-crate-metadata.json\",\"@type\":\"CreativeWork\","
				      "\"conformsTo\":{\"@id\":\"" RO_CRATE "\"},\"about\":{\"@id\":\"./\"}}");
	entity_begin(crate, "./", "Dataset");
	export_json_text(&crate->json, "name", report_run(report)->name);
	json_write_string(&crate->json, "description",
			  "The tasks of a run as the kernel saw them, recorded by Tracer " TRACER_VERSION
			  ". Command lines, and the files that were read and written, are not part of it.");
	time_set(crate, "datePublished", export_now_unix_ns(report));
	reference_set(crate, "license", "#license");
	reference_set(crate, "conformsTo", PROFILE);
	list_begin(crate, "mentions");
	for (size_t i = 0; i < report->task_count; i++)
		reference_add(crate, id_of(id, "task", report->tasks[i].id, NULL));
	list_end(crate);
	entity_end(crate);
	entity_begin(crate, PROFILE, "CreativeWork");
	json_write_string(&crate->json, "name", "Process Run Crate");
	json_write_string(&crate->json, "version", "0.5");
	entity_end(crate);
	entity_begin(crate, "#license", "CreativeWork");
	json_write_string(&crate->json, "name", "No license stated");
	json_write_string(&crate->json, "description", "To be replaced when the crate is published.");
	entity_end(crate);
}

int export_crate(struct versions *versions, FILE *file)
{
	struct crate crate = {.versions = versions, .json.file = file};
	struct user *user, *next;
	int error;

	root_write(&crate);
	error = versions_walk(versions, action_write, &crate);
	if (error == 0)
		error = software_write_all(&crate);
	measures_write(&crate);
	json_write_text(&crate.json, "\n]}\n");
	HASH_ITER (hh, crate.users, user, next) {
		HASH_DEL(crate.users, user);
		free(user);
	}
	return json_write_end(&crate.json) < 0 ? crate.json.error : error;
}
