/* The driver of a store that is asked over a socket. See served.h. */
#include <curl/curl.h>
#include <errno.h>
#include <stdarg.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/served/parameters.h"
#include "analysis/served/rows.h"
#include "analysis/served/served.h"
#include "common/grow.h"
#include "common/store/driver.h"
#include "common/text.h"

#define CONNECT_TIMEOUT_MS 5000L
#define ANSWER_TIMEOUT_S 120L
#define URL_START "http://localhost" SERVED_PATH
#define AHEAD_MAX 96 /* queries announced; one more discards the oldest */

/* Answers of one request, received whole: queries may be asked while the rows of another one are read. */
struct body {
	size_t holders; /* results, and queries announced */
	char *data;
	size_t size, capacity;
};

/* A query that was announced. It is sent with the first one of the same kind: they differ in their first integer. */
struct ahead {
	char *url;
	struct body *body; /* NULL: not yet sent */
	const char *begin, *end;
};

struct served_store {
	struct store_base base;
	const char *socket_path;
	CURL *easy;                    /* keeps its connection */
	struct ahead ahead[AHEAD_MAX]; /* oldest first */
	size_t ahead_count;
};

struct served_result {
	struct store_result base;
	struct body *body;
	struct served_rows rows;
	struct served_head head;
	struct store_value values[SERVED_COLUMNS_MAX];
};

static struct served_store *served_of(struct store *store)
{
	return (struct served_store *)store;
}

static struct served_result *result_of(const struct store_result *result)
{
	return (struct served_result *)result;
}

/* What the server says may quote anything: it is escaped. */
__attribute__((format(printf, 3, 4))) static int fail(struct served_store *served, int error, const char *format, ...)
{
	char raw[sizeof(served->base.error)];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(raw, sizeof(raw), format, arguments);
	va_end(arguments);
	text_escape(raw, strlen(raw), served->base.error, sizeof(served->base.error));
	return error;
}

static int fail_damaged(struct served_store *served)
{
	return fail(served, -EPROTO, "%s: the answer is damaged or cut", served->socket_path);
}

/* ---- results ----------------------------------------------------------------------- */

static void body_release(struct body *body)
{
	if (!body || --body->holders > 0)
		return;
	free(body->data);
	free(body);
}

static void result_free(struct store_result *result)
{
	body_release(result_of(result)->body);
	free(result);
}

static int result_next(struct store_result *base)
{
	struct served_result *result = result_of(base);
	int more = served_row_decode(&result->rows, result->values, result->head.width);

	return more < 0 ? fail_damaged(served_of(base->store)) : more;
}

static size_t result_width(const struct store_result *result)
{
	return result_of(result)->head.width;
}

static const char *result_column(const struct store_result *result, size_t column)
{
	return result_of(result)->head.names[column];
}

static struct store_value result_value(struct store_result *result, size_t column)
{
	return result_of(result)->values[column];
}

/* ---- asking ------------------------------------------------------------------------ */

static size_t body_received(char *data, size_t size, size_t count, void *argument)
{
	struct body *body = argument;
	size_t bytes = size * count;
	char *grown = body->size + bytes > SERVED_ANSWER_BYTES_MAX
			      ? NULL
			      : grow(body->data, &body->capacity, body->size + bytes, 1);

	if (!grown)
		return 0;
	body->data = grown;
	memcpy(body->data + body->size, data, bytes);
	body->size += bytes;
	return bytes;
}

/* Returns the errno for why nothing was answered. */
static int transfer_fail(struct served_store *served, CURLcode code)
{
	long system_errno = 0;

	curl_easy_getinfo(served->easy, CURLINFO_OS_ERRNO, &system_errno);
	switch (code) {
	case CURLE_COULDNT_CONNECT:
		return fail(served, system_errno ? -(int)system_errno : -EIO, "%s: %s", served->socket_path,
			    system_errno ? strerror((int)system_errno) : "cannot connect");
	case CURLE_WRITE_ERROR:
		return fail(served, -EFBIG, "%s: the answer is larger than %lld MiB: ask for less at once",
			    served->socket_path, SERVED_ANSWER_BYTES_MAX >> 20);
	default: return fail(served, -EIO, "%s: %s", served->socket_path, curl_easy_strerror(code));
	}
}

/* The server's own words: {"error": "..."}. */
static int status_fail(struct served_store *served, const struct body *received, long status)
{
	json_t *body = json_loadb(received->data ? received->data : "", received->size, 0, NULL);
	const char *words = json_string_value(json_object_get(body, "error"));
	int error = status == 403 ? -EPERM : status == 400 ? -EINVAL : -EIO;

	if (words)
		fail(served, error, "%s", words);
	else
		fail(served, error, "%s: not a server of tracer's (status %ld)", served->socket_path, status);
	json_decref(body);
	return error;
}

static int transfer(struct served_store *served, const char *url, struct body *body)
{
	CURL *easy = served->easy;
	CURLcode code;
	long status = 0;

	curl_easy_setopt(easy, CURLOPT_URL, url);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, body);
	code = curl_easy_perform(easy);
	if (code != CURLE_OK)
		return transfer_fail(served, code);
	curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
	return status == 200 ? 0 : status_fail(served, body, status);
}

static int head_read(struct served_store *served, struct served_result *result)
{
	if (served_head_decode(&result->rows, &result->head) < 0)
		return fail_damaged(served);
	if (result->head.schema_version != (uint32_t)store_schema_version())
		return fail(served, -EPROTO,
			    "%s: the service is of another release (schema %u, this one has %d): restart it",
			    served->socket_path, result->head.schema_version, store_schema_version());
	served->base.is_restricted = result->head.is_restricted;
	return 0;
}

/* Finds the answers in a body, one for each entry. */
static int body_divide(struct served_store *served, struct body *body, struct ahead **entries, size_t count)
{
	struct served_rows rows = {body->data, body->data + body->size, 0};

	for (size_t i = 0; i < count; i++) {
		entries[i]->begin = rows.next;
		if (served_rows_skip(&rows) < 0)
			return fail_damaged(served);
		entries[i]->end = rows.next;
	}
	if (rows.next != rows.end)
		return fail_damaged(served);
	for (size_t i = 0; i < count; i++)
		entries[i]->body = body;
	body->holders += count;
	return 0;
}

/* ---- queries that were announced ------------------------------------------------------ */

/* Returns the position of the first parameter that is an integer, and its length; the end of the text if there is none. */
static size_t integer_find(const char *url, size_t *ret_size)
{
	const char *at = strstr(url, "=i:");

	at = at ? at + strlen("=i:") : url + strlen(url);
	*ret_size = strcspn(at, "&");
	return (size_t)(at - url);
}

/* Whether they are the same but for that integer. */
static bool is_alike(const char *url, const char *other)
{
	size_t size, other_size, at = integer_find(url, &size), other_at = integer_find(other, &other_size);

	return size > 0 && at == other_at && strncmp(url, other, at) == 0 &&
	       strcmp(url + at + size, other + other_at + other_size) == 0;
}

static struct ahead *ahead_find(struct served_store *served, const char *url)
{
	for (size_t i = 0; i < served->ahead_count; i++)
		if (strcmp(served->ahead[i].url, url) == 0)
			return &served->ahead[i];
	return NULL;
}

static void ahead_remove(struct served_store *served, struct ahead *ahead)
{
	size_t behind = (size_t)(served->ahead + served->ahead_count-- - (ahead + 1));

	body_release(ahead->body);
	free(ahead->url);
	memmove(ahead, ahead + 1, behind * sizeof(*ahead));
}

/* Takes ownership of `url`. Returns its entry. */
static struct ahead *ahead_add(struct served_store *served, char *url)
{
	if (served->ahead_count == AHEAD_MAX)
		ahead_remove(served, served->ahead);
	served->ahead[served->ahead_count] = (struct ahead){.url = url};
	return &served->ahead[served->ahead_count++];
}

/* Chooses what is sent with `first`: all that are alike and not yet sent, up to that number. */
static size_t ahead_choose(struct served_store *served, struct ahead *first, size_t most,
			   struct ahead *ret_entries[SERVED_LIST_MAX])
{
	size_t count = 0;

	ret_entries[count++] = first;
	for (struct ahead *ahead = served->ahead; ahead < served->ahead + served->ahead_count; ahead++)
		if (ahead != first && !ahead->body && count < most && is_alike(first->url, ahead->url))
			ret_entries[count++] = ahead;
	return count;
}

/* One URL for all of them: "i:7" of the first becomes "l:7,8,9". */
static char *url_join(struct ahead *const *entries, size_t count)
{
	size_t joined_size, size, at = integer_find(entries[0]->url, &size);
	char *joined = NULL;
	FILE *out = open_memstream(&joined, &joined_size);

	if (!out)
		return NULL;
	fprintf(out, "%.*s", (int)at, entries[0]->url);
	if (count > 1) {
		fseek(out, -(long)strlen("i:"), SEEK_CUR);
		fputs("l:", out);
	}
	for (size_t i = 0; i < count; i++) {
		size_t number_size, number_at = integer_find(entries[i]->url, &number_size);

		fprintf(out, "%s%.*s", i ? "," : "", (int)number_size, entries[i]->url + number_at);
	}
	fputs(entries[0]->url + at + size, out);
	if (fclose(out) == 0)
		return joined;
	free(joined);
	return NULL;
}

static int ahead_ask(struct served_store *served, struct ahead *first, size_t most)
{
	struct ahead *entries[SERVED_LIST_MAX];
	size_t count = ahead_choose(served, first, most, entries);
	struct body *body = calloc(1, sizeof(*body));
	char *url = url_join(entries, count);
	int error;

	if (body)
		body->holders = 1;
	error = body && url ? transfer(served, url, body) : fail(served, -ENOMEM, "out of memory");
	if (error == 0)
		error = body_divide(served, body, entries, count);
	body_release(body);
	free(url);
	/* All together may be more than the server sends at once. */
	return error < 0 && count > 1 ? ahead_ask(served, first, 1) : error;
}

/* ---- queries -------------------------------------------------------------------------- */

static char *url_make(const struct store_text *text, const struct store_parameter *parameters)
{
	char *url = NULL;

	return asprintf(&url, URL_START "%s", text->name) < 0 ? NULL : served_parameters_add(url, parameters);
}

static void ask_ahead(struct store *store, const struct store_text *text, const struct store_parameter *parameters)
{
	struct served_store *served = served_of(store);
	char *url = url_make(text, parameters);

	if (!url || ahead_find(served, url))
		free(url);
	else
		ahead_add(served, url);
}

static int query(struct store *store, const struct store_text *text, const struct store_parameter *parameters,
		 struct store_result **ret_result)
{
	struct served_store *served = served_of(store);
	struct served_result *result;
	struct ahead *ahead;
	char *url;
	int error;

	if (text->limit_s) /* a site's own */
		return store_refuse_part(store, text->name);
	url = url_make(text, parameters);
	result = url ? calloc(1, sizeof(*result)) : NULL;
	if (!result) {
		free(url);
		return fail(served, -ENOMEM, "out of memory");
	}
	ahead = ahead_find(served, url);
	if (ahead)
		free(url);
	else
		ahead = ahead_add(served, url);
	error = ahead->body ? 0 : ahead_ask(served, ahead, SERVED_LIST_MAX);
	if (error == 0) {
		result->body = ahead->body;
		result->body->holders++;
		result->rows = (struct served_rows){ahead->begin, ahead->end, 0};
		error = head_read(served, result);
	}
	ahead_remove(served, ahead);
	if (error < 0)
		result_free(&result->base);
	else
		*ret_result = &result->base;
	return error;
}

/* ---- the store --------------------------------------------------------------------- */

/* Each query sees the latest commit. */
static int begin_reading(struct store *store)
{
	return 0;
}

static void end_reading(struct store *store)
{
}

static void served_close(struct store *store)
{
	struct served_store *served = served_of(store);

	while (served->ahead_count)
		ahead_remove(served, served->ahead);
	curl_easy_cleanup(served->easy);
	free(served);
}

static const struct store_driver driver = {
	.is_remote = true,
	.ahead_most = AHEAD_MAX,
	.has_stream = true,
	.close = served_close,
	.begin_reading = begin_reading,
	.end_reading = end_reading,
	.query = query,
	.ask_ahead = ask_ahead,
	.next = result_next,
	.width = result_width,
	.column = result_column,
	.value = result_value,
	.free = result_free,
};

static void set_options(CURL *easy, const char *socket_path)
{
	curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, socket_path);
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http");
	curl_easy_setopt(easy, CURLOPT_PROXY, "");
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_TIMEOUT_MS);
	curl_easy_setopt(easy, CURLOPT_TIMEOUT, ANSWER_TIMEOUT_S);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, body_received);
}

/* Whether it answers, and how much it shows. */
static int check(struct store *store)
{
	struct store_stream stream;
	int error = store_read_stream(store, &stream);

	return error == -ENODATA ? 0 : error;
}

int served_open(const char *socket_path, struct store **ret_store, struct store_error *ret_error)
{
	struct served_store *served = calloc(1, sizeof(*served));
	int error;

	if (served)
		served->easy = curl_easy_init();
	if (!served || !served->easy) {
		free(served);
		snprintf(ret_error->text, sizeof(ret_error->text), "out of memory");
		return -ENOMEM;
	}
	served->base.driver = &driver;
	served->socket_path = socket_path;
	set_options(served->easy, socket_path);
	error = check((struct store *)served);
	if (error < 0) {
		snprintf(ret_error->text, sizeof(ret_error->text), "%s", served->base.error);
		served_close((struct store *)served);
		return error;
	}
	*ret_store = (struct store *)served;
	return 0;
}
