/* Which container a cgroup path belongs to. See container_name.h. */
#include "correlator/model/container_name.h"

#include <stdio.h>
#include <string.h>

#define ID_DIGITS 64 /* hexadecimal, as all runtimes generate them */

/* How the runtimes name a container's cgroup, with either cgroup driver (systemd: unit
 * PREFIX-ID.scope; cgroupfs: directory ID), in both v1 and v2. The first match is used. */
static const struct form {
	const char *beneath; /* part of the path above it, NULL: any path */
	const char *prefix;  /* of the component, or of the part after its first colon */
	const char *suffix;
	bool named; /* the id is a name, not ID_DIGITS digits */
	const char *runtime;
} forms[] = {
	{NULL, "docker-", ".scope", false, "docker"},
	{NULL, "docker-", "", false, "docker"},
	{NULL, "libpod-", ".scope", false, "podman"},
	{NULL, "libpod-", "", false, "podman"},
	{NULL, "cri-containerd-", ".scope", false, "containerd"},
	{NULL, "cri-containerd-", "", false, "containerd"},
	{NULL, "cri-containerd:", "", false, "containerd"}, /* kubepods-POD.slice:cri-containerd:ID */
	{NULL, "crio-", ".scope", false, "crio"},
	{NULL, "crio-", "", false, "crio"},
	{NULL, "nerdctl-", ".scope", false, "containerd"},
	{NULL, "nerdctl-", "", false, "containerd"},
	{"kubepods", "", "", false, "kubernetes"},
	{"libpod", "", "", false, "podman"},
	{"docker/", "", "", false, "docker"},
	{"/ecs/", "", "", false, "docker"},
	{NULL, "", "", false, "containerd"},
	{NULL, "lxc.payload.", "", true, "lxc"},
	{"/lxc/", "", "", true, "lxc"},
	{"/lxc.payload/", "", "", true, "lxc"},
	{NULL, "systemd-nspawn@", ".service", true, "nspawn"},
	{NULL, "machine-qemu", "", true, NULL}, /* a virtual machine */
	{NULL, "machine-", ".scope", true, "nspawn"},
};

/* Returns the id in `component`, its size in `*ret_size`, or NULL if it does not have this form. */
static const char *form_find_id(const struct form *form, const char *component, size_t size, size_t *ret_size)
{
	size_t prefix = strlen(form->prefix), suffix = strlen(form->suffix);

	if (size <= prefix + suffix || strncmp(component, form->prefix, prefix) != 0 ||
	    strncmp(component + size - suffix, form->suffix, suffix) != 0)
		return NULL;
	*ret_size = size - prefix - suffix;
	if (!form->named && (*ret_size != ID_DIGITS || strspn(component + prefix, "0123456789abcdef") < ID_DIGITS))
		return NULL;
	return component + prefix;
}

/* A form with a name as id must be directly in its folder. */
static bool form_is_beneath(const struct form *form, const char *before)
{
	size_t size = form->beneath ? strlen(form->beneath) : 0, length = strlen(before);

	if (!form->beneath)
		return true;
	if (!form->named)
		return strstr(before, form->beneath) != NULL;
	return length >= size && strcmp(before + length - size, form->beneath) == 0;
}

static bool parse_component(const char *component, size_t size, const char *before, struct container_name *ret)
{
	const char *colon = memchr(component, ':', size), *id;
	size_t id_size;

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		if (!form_is_beneath(&forms[i], before))
			continue;
		id = form_find_id(&forms[i], component, size, &id_size);
		if (!id && colon && forms[i].prefix[0])
			id = form_find_id(&forms[i], colon + 1, size - (size_t)(colon + 1 - component), &id_size);
		if (!id)
			continue;
		if (!forms[i].runtime)
			return false;
		snprintf(ret->runtime, sizeof(ret->runtime), "%s", forms[i].runtime);
		snprintf(ret->runtime_id, sizeof(ret->runtime_id), "%.*s", (int)id_size, id);
		return true;
	}
	return false;
}

bool container_parse(const char *path, struct container_name *ret_name)
{
	char before[256] = "";
	bool found = false;

	for (const char *component = path; component;) {
		component += strspn(component, "/");
		size_t size = strcspn(component, "/");

		if (size == 0)
			break;
		size_t before_size = (size_t)(component - path);

		if (before_size < sizeof(before)) {
			memcpy(before, path, before_size);
			before[before_size] = '\0';
		}
		/* The innermost wins: a container engine may itself run in a container. */
		if (parse_component(component, size, before, ret_name)) {
			ret_name->path_size = (size_t)(component + size - path);
			found = true;
		}
		component += size;
	}
	return found;
}

const char *cgroup_unit(const char *path, char *buffer, size_t size)
{
	static const char *const suffixes[] = {".service", ".scope"};
	const char *best = NULL;
	size_t best_size = 0;

	for (const char *component = path; *component;) {
		component += strspn(component, "/");
		size_t length = strcspn(component, "/");

		for (size_t i = 0; i < 2; i++) {
			size_t suffix = strlen(suffixes[i]);

			if (length > suffix && strncmp(component + length - suffix, suffixes[i], suffix) == 0) {
				best = component;
				best_size = length;
			}
		}
		component += length;
	}
	if (!best)
		return NULL;
	snprintf(buffer, size, "%.*s", (int)best_size, best);
	return buffer;
}

/* ---- what command lines say ---- */

/* Options of `docker run`, `podman run` and the like that take no value. The others take
 * one: the next word, or after "=". */
/* clang-format off */
static const char *const flags[] = {
	"--rm", "--rmi", "--detach", "--interactive", "--tty", "--init", "--privileged", "--read-only",
	"--publish-all", "--no-healthcheck", "--oom-kill-disable", "--quiet", "--replace", "--no-hosts",
	"--no-hostname", "--env-host", "--rootfs", "--sig-proxy", "--disable-content-trust",
	"--tls-verify", "--http-proxy", "--unsetenv-all", "--read-only-tmpfs", "--passwd", "--debug",
};
/* clang-format on */
static const char short_flags[] = "ditPqD";

struct argument_words {
	const char *next, *end; /* each terminated by NUL */
};

static const char *take_word(struct argument_words *words)
{
	const char *word = words->next;

	if (word >= words->end)
		return NULL;
	words->next = word + strnlen(word, (size_t)(words->end - word)) + 1;
	return word;
}

static bool is_flag(const char *option)
{
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
		if (strcmp(option, flags[i]) == 0)
			return true;
	return false;
}

/* Whether the next word is this option's value. */
static bool takes_next_word(const char *option)
{
	if (option[1] == '-')
		return !strchr(option, '=') && !is_flag(option);
	for (const char *letter = option + 1; *letter; letter++)
		if (!strchr(short_flags, *letter))
			return letter[1] == '\0'; /* else its value is attached */
	return false;
}

/* Returns the value of `--name X` or `--name=X`, or NULL if it is another option. */
static const char *option_value(const char *option, const char *wanted, const char *next)
{
	size_t size = strlen(wanted);

	if (strncmp(option, wanted, size) != 0)
		return NULL;
	if (option[size] == '=')
		return option + size + 1;
	return option[size] == '\0' ? next : NULL;
}

static void set_label(char *label, size_t size, const char *value)
{
	if (value && *value)
		snprintf(label, size, "%s", value);
}

/* docker [OPTION...] [container] run [OPTION...] IMAGE ... */
static void parse_client(struct argument_words *words, struct container_label *ret)
{
	bool run = false;
	const char *word;

	while ((word = take_word(words))) {
		if (word[0] == '-' && word[1]) {
			const char *next = words->next < words->end ? words->next : NULL;

			if (run)
				set_label(ret->name, sizeof(ret->name), option_value(word, "--name", next));
			if (takes_next_word(word))
				take_word(words);
		} else if (run) {
			set_label(ret->image, sizeof(ret->image), word);
			return;
		} else if (strcmp(word, "run") == 0 || strcmp(word, "create") == 0) {
			run = true;
		} else if (strcmp(word, "container") != 0) {
			return;
		}
	}
}

/* conmon ... -c ID ... -n NAME ...: podman's and CRI-O's monitor of one container. */
static void parse_monitor(struct argument_words *words, struct container_label *ret)
{
	const char *word;

	while ((word = take_word(words))) {
		if (strcmp(word, "-n") == 0 || strcmp(word, "--name") == 0)
			set_label(ret->name, sizeof(ret->name), take_word(words));
		else if (strcmp(word, "-c") == 0 || strcmp(word, "--cid") == 0)
			set_label(ret->runtime_id, sizeof(ret->runtime_id), take_word(words));
	}
}

/* systemd-nspawn -M NAME --image=FILE */
static void parse_nspawn(struct argument_words *words, struct container_label *ret)
{
	const char *word;

	while ((word = take_word(words))) {
		const char *next = words->next < words->end ? words->next : NULL;

		if (strcmp(word, "-M") == 0)
			set_label(ret->name, sizeof(ret->name), next);
		else if (strcmp(word, "-i") == 0)
			set_label(ret->image, sizeof(ret->image), next);
		set_label(ret->name, sizeof(ret->name), option_value(word, "--machine", next));
		set_label(ret->image, sizeof(ret->image), option_value(word, "--image", next));
	}
}

bool container_label_parse(const char *program, const char *arguments, size_t size, struct container_label *ret_label)
{
	static const struct {
		const char *program;
		void (*parse)(struct argument_words *words, struct container_label *ret);
	} programs[] = {
		{"docker", parse_client},  {"podman", parse_client},    {"nerdctl", parse_client},
		{"conmon", parse_monitor}, {"conmonrs", parse_monitor}, {"systemd-nspawn", parse_nspawn},
	};
	struct argument_words words = {arguments, arguments + size};

	*ret_label = (struct container_label){0};
	take_word(&words); /* argv[0] */
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++)
		if (strcmp(program, programs[i].program) == 0)
			programs[i].parse(&words, ret_label);
	return ret_label->name[0] || ret_label->image[0];
}
