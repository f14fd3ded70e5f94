/* See answers.h. */
#include "cli/serve/answers.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <openssl/evp.h>

#include "cli/serve/worker.h"
#include "common/log.h"

/* An answer is given again if it is that new; or, until it is that old, if the store has not changed since. */
#define FRESH_MS 500
#define FRESH_LAKE_MS 2000
#define UNCHANGED_MS 10000
#define KEPT_BYTES_MAX (256ULL << 20) /* of all answers; beyond it, requests are refused */
#define KEPT_MAX 512
#define WAITING_PER_USER_MAX 32
#define CHILD_TIME_MS 60000

/* When a store was written last: of the database and of its log. */
struct stamp {
	struct timespec times[2];
	off_t sizes[2];
};

struct entry {
	struct answer answer; /* first */
	struct entry *next;
	enum { WAITING, RUNNING, READY } state;
	unsigned hold_count;
	struct route_command command;
	struct scope scope;
	pid_t child;
	int text, error_text; /* what it prints */
	uint64_t began_ms, ended_ms;
	struct stamp stamp; /* before it began */
	bool is_too_late;
};

struct answers {
	struct answers_options options;
	struct entry *entries; /* the newest first */
	unsigned running_count;
	uv_signal_t child_signal;
	uv_timer_t timer;
};

/* ---- one answer */

static void entry_close(struct entry *entry)
{
	if (entry->text >= 0)
		close(entry->text);
	if (entry->error_text >= 0)
		close(entry->error_text);
	entry->text = entry->error_text = -1;
}

static void entry_free(struct entry *entry)
{
	entry_close(entry);
	route_command_free(&entry->command);
	free(entry);
}

static bool command_equals(const struct route_command *a, const struct route_command *b)
{
	if (a->route != b->route || a->word_count != b->word_count)
		return false;
	for (int i = 0; i < a->word_count; i++)
		if (strcmp(a->words[i], b->words[i]) != 0)
			return false;
	return true;
}

static bool scope_equals(const struct scope *a, const struct scope *b)
{
	return a->everything == b->everything && (a->everything || a->uid == b->uid);
}

static uint64_t file_size(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 ? (uint64_t)status.st_size : 0;
}

/* Where a period begins and ends, in JSON of a command: an indent of two is that of no text. */
static const char *const bounds[] = {"\n  \"since_unix_ns\": ", "\n  \"until_unix_ns\": "};

/* Without these bounds: they are of the present, so they alone differ if there is nothing new. */
static bool digest_add(EVP_MD_CTX *digest, const char *text, size_t size)
{
	const char *end = text + size;

	for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
		const char *bound = memmem(text, (size_t)(end - text), bounds[i], strlen(bounds[i]));

		if (!bound)
			continue;
		if (EVP_DigestUpdate(digest, text, (size_t)(bound - text)) != 1)
			return false;
		for (text = bound + strlen(bounds[i]); text < end && isdigit((unsigned char)*text);)
			text++;
	}
	return EVP_DigestUpdate(digest, text, (size_t)(end - text)) == 1;
}

int answer_make_etag(const void *bytes, size_t size, char ret_etag[ANSWER_ETAG_BYTES])
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	bool is_made = context && EVP_DigestInit_ex(context, EVP_sha256(), NULL) == 1 &&
		       digest_add(context, bytes, size) && EVP_DigestFinal_ex(context, digest, NULL) == 1;

	EVP_MD_CTX_free(context);
	if (!is_made)
		return -ENOMEM;
	memcpy(ret_etag, "W/\"", 4);
	for (size_t i = 0; i < 16; i++)
		snprintf(ret_etag + 3 + 2 * i, 3, "%02x", digest[i]);
	memcpy(ret_etag + 35, "\"", 2);
	return 0;
}

static int etag_make(struct answer *answer)
{
	void *text = answer->size ? mmap(NULL, answer->size, PROT_READ, MAP_SHARED, answer->body, 0) : "";
	int error;

	if (text == MAP_FAILED)
		return -ENOMEM;
	error = answer_make_etag(text, answer->size, answer->etag);
	if (answer->size)
		munmap(text, answer->size);
	return error;
}

/* The first line that the command wrote, without its own name. */
static void reason_read(struct entry *entry, int status)
{
	char *reason = entry->answer.reason;
	ssize_t size = pread(entry->error_text, reason, ANSWER_REASON_BYTES - 1, 0);

	reason[size > 0 ? size : 0] = '\0';
	reason[strcspn(reason, "\n")] = '\0';
	if (entry->is_too_late)
		snprintf(reason, ANSWER_REASON_BYTES, "it took longer than a minute and was ended: ask for less");
	else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ)
		snprintf(reason, ANSWER_REASON_BYTES, "the answer is too large: ask for less");
	else if (!*reason)
		snprintf(reason, ANSWER_REASON_BYTES, "the answer could not be made (%s %d)",
			 WIFSIGNALED(status) ? "signal" : "exit status",
			 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

/* Whether it is about a run or a host, which there may not be. */
static bool is_about_one(const struct route_command *command)
{
	bool names_host = command->route->is_of_one_host;

	for (int i = 0; i < command->word_count; i++)
		names_host |= strncmp(command->words[i], "--host=", 7) == 0;
	return names_host || strchr(command->route->path, '{');
}

static int http_status(const struct entry *entry, int status)
{
	if (WIFSIGNALED(status))
		return entry->is_too_late ? 504 : WTERMSIG(status) == SIGXFSZ ? 507 : 500;
	switch (WEXITSTATUS(status)) {
	case VERB_OK: return 200;
	case VERB_USAGE: return 400;
	case WORKER_NO_STORE: return 503;
	case VERB_FAILED:
		if (entry->command.route->is_check && file_size(entry->text) > 0)
			return 200;
		return is_about_one(&entry->command) ? 404 : 500;
	default: return 500;
	}
}

static void entry_end(struct entry *entry, int status, uint64_t now_ms)
{
	struct answer *answer = &entry->answer;

	entry->state = READY;
	entry->ended_ms = now_ms;
	entry->child = 0;
	answer->is_ready = true;
	answer->status = http_status(entry, status);
	answer->type = entry->command.type;
	answer->body = entry->text;
	answer->size = file_size(entry->text);
	if (answer->status == 200 && etag_make(answer) < 0)
		answer->status = 500;
	if (answer->status != 200)
		reason_read(entry, status);
	if (answer->status >= 500)
		log_warning("%s: %s", entry->command.route->path, answer->reason);
}

/* ---- all of them */

static void stamp_read(const char *store_path, struct stamp *ret_stamp)
{
	char log_path[PATH_MAX];
	struct stat status;

	snprintf(log_path, sizeof(log_path), "%s-wal", store_path);
	for (size_t i = 0; i < 2; i++)
		if (stat(i ? log_path : store_path, &status) == 0) {
			ret_stamp->times[i] = status.st_mtim;
			ret_stamp->sizes[i] = status.st_size;
		}
}

static bool entry_is_fresh(const struct answers *answers, const struct entry *entry)
{
	const char *store_path = answers->options.store_path;
	uint64_t age_ms = uv_now(answers->options.loop) - entry->began_ms;
	struct stamp now = {0};

	if (entry->state != READY)
		return true;
	if (entry->answer.status >= 500)
		return false;
	if (age_ms <= (store_path ? FRESH_MS : FRESH_LAKE_MS))
		return true;
	if (!store_path || age_ms > UNCHANGED_MS)
		return false;
	stamp_read(store_path, &now);
	return memcmp(&now, &entry->stamp, sizeof(now)) == 0;
}

static struct entry *entry_find(struct answers *answers, const struct route_command *command, const struct scope *scope)
{
	for (struct entry *entry = answers->entries; entry; entry = entry->next)
		if (command_equals(&entry->command, command) && scope_equals(&entry->scope, scope) &&
		    entry_is_fresh(answers, entry))
			return entry;
	return NULL;
}

/* Frees answers that no request holds: all that are old, and the oldest of the others until the rest is below the limits. */
static void trim(struct answers *answers)
{
	uint64_t now_ms = uv_now(answers->options.loop), kept_bytes = 0;
	size_t kept = 0;

	for (struct entry **at = &answers->entries; *at;) {
		struct entry *entry = *at;
		uint64_t size = entry->text >= 0 ? file_size(entry->text) : 0;
		bool is_free = entry->state == READY && entry->hold_count == 0;

		if (is_free && (now_ms - entry->began_ms > UNCHANGED_MS || kept_bytes + size > KEPT_BYTES_MAX / 2 ||
				kept >= KEPT_MAX / 2)) {
			*at = entry->next;
			entry_free(entry);
			continue;
		}
		kept_bytes += size;
		kept++;
		at = &entry->next;
	}
}

/* Returns 0, or the status of HTTP with which to refuse one more. */
static int check_room(const struct answers *answers, const struct scope *scope)
{
	size_t count = 0, waiting_count = 0;
	uint64_t bytes = 0;

	for (const struct entry *entry = answers->entries; entry; entry = entry->next) {
		count++;
		bytes += entry->text >= 0 ? file_size(entry->text) : 0;
		waiting_count += entry->state == WAITING && scope_equals(&entry->scope, scope);
	}
	if (waiting_count >= WAITING_PER_USER_MAX)
		return 429;
	return count >= KEPT_MAX || bytes > KEPT_BYTES_MAX ? 503 : 0;
}

/* ---- children */

static int entry_run(struct answers *answers, struct entry *entry)
{
	entry->text = memfd_create("answer", MFD_CLOEXEC);
	entry->error_text = memfd_create("answer-errors", MFD_CLOEXEC);
	if (entry->text < 0 || entry->error_text < 0)
		return -errno;
	if (answers->options.store_path)
		stamp_read(answers->options.store_path, &entry->stamp);
	entry->began_ms = uv_now(answers->options.loop);
	entry->child = worker_start(&entry->command, &entry->scope, entry->text, entry->error_text);
	return entry->child < 0 ? (int)entry->child : 0;
}

/* One user's requests leave a child for the others'. */
static bool may_run(const struct answers *answers, const struct entry *wanted)
{
	unsigned of_user = 0, most = answers->options.children_most;

	for (const struct entry *entry = answers->entries; entry; entry = entry->next)
		of_user += entry->state == RUNNING && scope_equals(&entry->scope, &wanted->scope);
	return wanted->scope.everything || of_user == 0 || of_user + 1 < most;
}

/* The one that waits longest, of those that may run: entries are the newest first. */
static struct entry *next_to_run(struct answers *answers)
{
	struct entry *next = NULL;

	for (struct entry *entry = answers->entries; entry; entry = entry->next)
		if (entry->state == WAITING && may_run(answers, entry))
			next = entry;
	return next;
}

static void timer_fired(uv_timer_t *timer);

static void run_waiting(struct answers *answers)
{
	struct entry *entry;

	while (answers->running_count < answers->options.children_most && (entry = next_to_run(answers))) {
		int error = entry_run(answers, entry);

		if (error < 0) {
			log_error("cannot start a child process: %s", strerror(-error));
			entry_end(entry, W_EXITCODE(VERB_FAILED, 0), uv_now(answers->options.loop));
			entry->answer.status = 503;
			answers->options.on_ready(answers->options.context, &entry->answer);
			continue;
		}
		entry->state = RUNNING;
		answers->running_count++;
	}
	if (answers->running_count > 0 && !uv_is_active((uv_handle_t *)&answers->timer))
		uv_timer_start(&answers->timer, timer_fired, 1000, 1000);
}

static void child_ended(uv_signal_t *handle, int signal_number)
{
	struct answers *answers = handle->data;
	int status;

	for (struct entry *entry = answers->entries; entry; entry = entry->next) {
		if (entry->state != RUNNING || waitpid(entry->child, &status, WNOHANG) != entry->child)
			continue;
		answers->running_count--;
		entry_end(entry, status, uv_now(answers->options.loop));
		answers->options.on_ready(answers->options.context, &entry->answer);
	}
	run_waiting(answers);
}

static void timer_fired(uv_timer_t *timer)
{
	struct answers *answers = timer->data;

	for (struct entry *entry = answers->entries; entry; entry = entry->next)
		if (entry->state == RUNNING && uv_now(timer->loop) - entry->began_ms > CHILD_TIME_MS) {
			entry->is_too_late = true;
			kill(entry->child, SIGKILL);
		}
	if (answers->running_count == 0)
		uv_timer_stop(timer);
}

/* ---- in and out */

struct answers *answers_new(const struct answers_options *options)
{
	struct answers *answers = calloc(1, sizeof(*answers));

	if (!answers)
		return NULL;
	answers->options = *options;
	uv_signal_init(options->loop, &answers->child_signal);
	uv_signal_start(&answers->child_signal, child_ended, SIGCHLD);
	uv_timer_init(options->loop, &answers->timer);
	answers->child_signal.data = answers->timer.data = answers;
	return answers;
}

void answers_free(struct answers *answers)
{
	if (!answers)
		return;
	for (struct entry *entry = answers->entries, *next; entry; entry = next) {
		next = entry->next;
		if (entry->state == RUNNING) {
			kill(entry->child, SIGKILL);
			waitpid(entry->child, NULL, 0);
		}
		entry_free(entry);
	}
	free(answers);
}

struct answer *answers_ask(struct answers *answers, struct route_command *command, const struct scope *scope,
			   int *ret_status)
{
	struct entry *entry;

	uv_update_time(answers->options.loop);
	trim(answers);
	entry = entry_find(answers, command, scope);
	if (entry) {
		entry->hold_count++;
		route_command_free(command);
		return &entry->answer;
	}
	*ret_status = check_room(answers, scope);
	entry = *ret_status == 0 ? calloc(1, sizeof(*entry)) : NULL;
	if (!entry) {
		*ret_status = *ret_status ? *ret_status : 503;
		route_command_free(command);
		return NULL;
	}
	*entry = (struct entry){.next = answers->entries,
				.hold_count = 1,
				.command = *command,
				.scope = *scope,
				.text = -1,
				.error_text = -1,
				.answer.body = -1};
	*command = (struct route_command){0};
	answers->entries = entry;
	run_waiting(answers);
	return &entry->answer;
}

void answers_release(struct answers *answers, struct answer *answer)
{
	((struct entry *)answer)->hold_count--;
}
