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

struct served_store {
	struct store_base base;
	const char *socket_path;
	CURL *easy; /* keeps its connection */
};

/* An answer is received whole: queries may be asked while the rows of another one are read. */
struct served_result {
	struct store_result base;
	char *data;
	size_t size, capacity;
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

static void result_free(struct store_result *result)
{
	free(result_of(result)->data);
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
	struct served_result *result = argument;
	size_t bytes = size * count;
	char *grown = result->size + bytes > SERVED_ANSWER_BYTES_MAX
			      ? NULL
			      : grow(result->data, &result->capacity, result->size + bytes, 1);

	if (!grown)
		return 0;
	result->data = grown;
	memcpy(result->data + result->size, data, bytes);
	result->size += bytes;
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
static int status_fail(struct served_store *served, const struct served_result *result, long status)
{
	json_t *body = json_loadb(result->data ? result->data : "", result->size, 0, NULL);
	const char *words = json_string_value(json_object_get(body, "error"));
	int error = status == 403 ? -EPERM : status == 400 ? -EINVAL : -EIO;

	if (words)
		fail(served, error, "%s", words);
	else
		fail(served, error, "%s: not a server of tracer's (status %ld)", served->socket_path, status);
	json_decref(body);
	return error;
}

static int transfer(struct served_store *served, const char *url, struct served_result *result)
{
	CURL *easy = served->easy;
	CURLcode code;
	long status = 0;

	curl_easy_setopt(easy, CURLOPT_URL, url);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, result);
	code = curl_easy_perform(easy);
	if (code != CURLE_OK)
		return transfer_fail(served, code);
	curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
	return status == 200 ? 0 : status_fail(served, result, status);
}

static int head_read(struct served_store *served, struct served_result *result)
{
	result->rows = (struct served_rows){result->data, result->data + result->size, 0};
	if (served_head_decode(&result->rows, &result->head) < 0)
		return fail_damaged(served);
	if (result->head.schema_version != (uint32_t)store_schema_version())
		return fail(served, -EPROTO,
			    "%s: the service is of another release (schema %u, this one has %d): restart it",
			    served->socket_path, result->head.schema_version, store_schema_version());
	served->base.is_restricted = result->head.is_restricted;
	return 0;
}

static int query(struct store *store, const struct store_text *text, const struct store_parameter *parameters,
		 struct store_result **ret_result)
{
	struct served_store *served = served_of(store);
	struct served_result *result;
	char *url = NULL;
	int error;

	if (text->limit_s) /* a site's own */
		return store_refuse_part(store, text->name);
	result = calloc(1, sizeof(*result));
	if (asprintf(&url, URL_START "%s", text->name) < 0)
		url = NULL;
	url = served_parameters_add(url, parameters);
	error = result && url ? transfer(served, url, result) : fail(served, -ENOMEM, "out of memory");
	if (error == 0)
		error = head_read(served, result);
	free(url);
	if (error < 0 && result)
		result_free(&result->base);
	if (error == 0)
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
	curl_easy_cleanup(served_of(store)->easy);
	free(store);
}

static const struct store_driver driver = {
	.is_remote = true,
	.has_stream = true,
	.close = served_close,
	.begin_reading = begin_reading,
	.end_reading = end_reading,
	.query = query,
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
