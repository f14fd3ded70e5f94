/* Statements to a ClickHouse server over HTTP. See client.h. */
#include "analysis/lake/client.h"

#include <inttypes.h>
#include <string.h>

#include "common/clock.h"
#include "common/grow.h"
#include "common/http/answer.h"
#include "common/progress.h"
#include "common/text.h"

#define CONNECT_TIMEOUT_MS 15000L
#define STALL_TIMEOUT_S 330L       /* the server's own query time limit is 300 */
#define BUFFER_BYTES_MAX (1 << 20) /* received but unread, per answer; then the transfer pauses */
#define TAIL_BYTES 64
#define IGNORED_BYTES_MAX (1 << 20)   /* output of statements: one line per cluster node */
#define SERVER_BUFFER_BYTES (4 << 20) /* on the server, before it buffers on disk */

struct lake_client {
	struct access settings;
	CURLM *multi; /* shared by all answers, so that connections are reused */
	char error[512];
	long exception;
};

struct lake_answer {
	struct lake_client *client;
	CURL *easy;
	struct curl_slist *headers;
	struct http_answer head; /* status and headers, and the body of an error */
	bool is_rows;
	char tail[TAIL_BYTES]; /* the last bytes of the rows */
	size_t tail_size;
	bool ended;
	bool paused;
	char *data; /* received, not yet read */
	size_t size, capacity;
	char *given; /* what the last read returned */
};

/* ---- the client ---------------------------------------------------------------- */

int lake_client_new(const struct access *settings, struct lake_client **ret_client, char *ret_reason, size_t capacity)
{
	struct lake_client *client = calloc(1, sizeof(*client));

	snprintf(ret_reason, capacity, "out of memory");
	if (!client || curl_global_init(CURL_GLOBAL_DEFAULT) != 0) {
		free(client);
		return -ENOMEM;
	}
	client->settings = *settings;
	client->multi = curl_multi_init();
	if (!client->multi) {
		lake_client_free(client);
		return -ENOMEM;
	}
	*ret_client = client;
	return 0;
}

void lake_client_free(struct lake_client *client)
{
	if (!client)
		return;
	curl_multi_cleanup(client->multi);
	free(client);
	curl_global_cleanup();
}

const char *lake_client_error(const struct lake_client *client)
{
	return client->error;
}

long lake_client_exception(const struct lake_client *client)
{
	return client->exception;
}

/* ---- errors --------------------------------------------------------------------- */

/* ClickHouse exceptions for which there is more to say than ClickHouse's message. */
static const struct {
	long code;
	const char *fix;
} exceptions[] = {
	{516, "rejected this user and password: check lake.user and lake.password-file"},
	{192, "does not know this user: create Tracer's users on the server (docs/datalake.md)"},
	{497, "denied permission to this user: create Tracer's users on the server (docs/datalake.md)"},
	{81, "has no such database: create it with tracer lake init, or check lake.database"},
	{60, "is missing a table or view: run tracer lake check"},
	{47, "is missing a column: run tracer lake check"},
	{241, "has not enough memory for the query: request less at once"},
	{159, "exceeded its time limit for a query: request less at once"},
	{396, "exceeded its size limit for a result: request less at once"},
};

static void exception_explain(const struct lake_answer *answer, long code, char *ret_text, size_t capacity)
{
	const struct access *settings = &answer->client->settings;
	char words[240];

	for (size_t i = 0; i < sizeof(exceptions) / sizeof(exceptions[0]); i++) {
		if (exceptions[i].code != code)
			continue;
		snprintf(ret_text, capacity, "%.200s: the lake %s (user %.64s, code %ld)", settings->url,
			 exceptions[i].fix, settings->user, code);
		return;
	}
	http_answer_words(&answer->head, words, sizeof(words));
	snprintf(ret_text, capacity, "%.200s: the lake returned an error: %s", settings->url, words);
}

static int answer_fail(struct lake_answer *answer)
{
	struct lake_client *client = answer->client;
	char text[sizeof(client->error)];

	client->exception = (long)http_answer_exception(&answer->head);
	if (answer->head.failure == HTTP_ANSWERED && client->exception != 0)
		exception_explain(answer, client->exception, text, sizeof(text));
	else
		http_answer_explain(&answer->head, client->settings.url, text, sizeof(text));
	text_escape(text, strlen(text), client->error, sizeof(client->error));
	return -EIO;
}

static int fail_memory(struct lake_client *client)
{
	snprintf(client->error, sizeof(client->error), "out of memory");
	return -ENOMEM;
}

/* ---- one statement --------------------------------------------------------------- */

static int data_append(struct lake_answer *answer, const char *data, size_t size)
{
	char *grown = grow(answer->data, &answer->capacity, answer->size + size, 1);

	if (!grown)
		return -ENOMEM;
	answer->data = grown;
	memcpy(answer->data + answer->size, data, size);
	answer->size += size;
	return 0;
}

/* An error sent after a success status. Rows never begin like this. */
static bool is_exception(const char *data, size_t size)
{
	return size >= strlen("Code: ") && memcmp(data, "Code: ", strlen("Code: ")) == 0;
}

static void tail_keep(struct lake_answer *answer, const char *data, size_t size)
{
	size_t taken = size < TAIL_BYTES ? size : TAIL_BYTES;
	size_t kept = answer->tail_size < TAIL_BYTES - taken ? answer->tail_size : TAIL_BYTES - taken;

	memmove(answer->tail, answer->tail + answer->tail_size - kept, kept);
	memcpy(answer->tail + kept, data + size - taken, taken);
	answer->tail_size = kept + taken;
}

/* An error after rows that were already sent. The server also breaks off such a response, but
 * an intermediary may make it look complete. */
static bool tail_is_exception(const struct lake_answer *answer)
{
	char mark[TAIL_BYTES];
	size_t size = (size_t)snprintf(mark, sizeof(mark), "%s\r\n__exception__\r\n", answer->head.exception_tag);

	return answer->head.exception_tag[0] && answer->tail_size >= size &&
	       memcmp(answer->tail + answer->tail_size - size, mark, size) == 0;
}

static size_t body_received(char *data, size_t size, size_t count, void *argument)
{
	struct lake_answer *answer = argument;

	if (!answer->is_rows) {
		http_answer_read_head(&answer->head, answer->easy);
		answer->is_rows = answer->head.status == 200 && answer->head.is_clickhouse &&
				  answer->head.exception_code == 0 && !is_exception(data, size * count);
	}
	if (!answer->is_rows)
		return http_answer_take_body(&answer->head, data, size * count) ? size * count : 0;
	if (answer->size > BUFFER_BYTES_MAX) {
		answer->paused = true;
		return CURL_WRITEFUNC_PAUSE;
	}
	tail_keep(answer, data, size * count);
	return data_append(answer, data, size * count) < 0 ? 0 : size * count;
}

static int easy_prepare(struct lake_answer *answer, const char *url, const char *sql)
{
	struct lake_client *client = answer->client;
	CURL *easy = answer->easy;

	curl_easy_setopt(easy, CURLOPT_URL, url);
	curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(sql));
	curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, sql);
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, answer->headers);
	curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, ""); /* all that libcurl supports */
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_TIMEOUT_MS);
	curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, STALL_TIMEOUT_S);
	curl_easy_setopt(easy, CURLOPT_USERAGENT, "tracer/" TRACER_VERSION);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, body_received);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, answer);
	curl_easy_setopt(easy, CURLOPT_PRIVATE, answer);
	http_answer_begin(&answer->head, easy);
	return access_apply(&client->settings, easy, client->error, sizeof(client->error));
}

static int answer_prepare(struct lake_answer *answer, const char *sql, const char *settings)
{
	const char *base = answer->client->settings.url;
	size_t size = strlen(base);
	char *url = NULL;
	int error;

	while (size > 0 && base[size - 1] == '/')
		size--;
	answer->easy = curl_easy_init();
	answer->headers = curl_slist_append(NULL, "Content-Type: text/plain; charset=utf-8");
	if (!answer->easy || !answer->headers ||
	    asprintf(&url, "%.*s/?database=%s&wait_end_of_query=1&buffer_size=%d%s", (int)size, base,
		     answer->client->settings.database, SERVER_BUFFER_BYTES, settings ? settings : "") < 0)
		return fail_memory(answer->client);
	error = easy_prepare(answer, url, sql);
	free(url);
	if (error < 0)
		return error;
	if (curl_multi_add_handle(answer->client->multi, answer->easy) != CURLM_OK)
		return fail_memory(answer->client);
	return 0;
}

void lake_answer_free(struct lake_answer *answer)
{
	if (!answer)
		return;
	if (answer->easy)
		curl_multi_remove_handle(answer->client->multi, answer->easy);
	curl_easy_cleanup(answer->easy);
	curl_slist_free_all(answer->headers);
	free(answer->data);
	free(answer->given);
	free(answer);
}

/* Finishes all answers whose transfer has ended. */
static void answers_end(CURLM *multi)
{
	struct lake_answer *answer;
	CURLMsg *message;
	int left;

	while ((message = curl_multi_info_read(multi, &left))) {
		if (message->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&answer);
		http_answer_end(&answer->head, answer->easy, message->data.result);
		answer->ended = true;
	}
}

/* Runs transfers until this answer has rows or has ended. */
static void answer_pump(struct lake_answer *answer)
{
	CURLM *multi = answer->client->multi;
	uint64_t begin_boot_ns = clock_boot_ns(), waited_s = 0;
	int running;

	for (;;) {
		if (answer->paused && answer->size == 0) {
			answer->paused = false;
			curl_easy_pause(answer->easy, CURLPAUSE_CONT);
		}
		curl_multi_perform(multi, &running);
		answers_end(multi); /* also those that ended while waiting for others */
		if (answer->ended || answer->size > 0)
			break;
		curl_multi_poll(multi, NULL, 0, 1000, NULL);
		waited_s = (clock_boot_ns() - begin_boot_ns) / 1000000000;
		if (waited_s > 0)
			progress_show("tracer: waiting for the lake: %" PRIu64 " s", waited_s);
	}
	if (waited_s > 0)
		progress_hide();
}

static bool answer_is_good(const struct lake_answer *answer)
{
	const struct http_answer *head = &answer->head;

	if (answer->ended && head->failure != HTTP_ANSWERED)
		return false;
	return answer->is_rows ||
	       (head->status == 200 && head->is_clickhouse && head->body_size == 0 && head->exception_code == 0);
}

int lake_client_ask(struct lake_client *client, const char *sql, const char *settings, struct lake_answer **ret_answer)
{
	struct lake_answer *answer = calloc(1, sizeof(*answer));
	int error, running;

	client->error[0] = '\0';
	client->exception = 0;
	if (!answer)
		return fail_memory(client);
	answer->client = client;
	error = answer_prepare(answer, sql, settings);
	if (error < 0) {
		lake_answer_free(answer);
		return error;
	}
	curl_multi_perform(client->multi, &running);
	*ret_answer = answer;
	return 0;
}

int lake_answer_read(struct lake_answer *answer, const void **ret_data, size_t *ret_size)
{
	answer_pump(answer);
	if (!answer_is_good(answer))
		return answer_fail(answer);
	if (answer->ended && tail_is_exception(answer)) {
		snprintf(answer->client->error, sizeof(answer->client->error),
			 "%.200s: the response was truncated; retry", answer->client->settings.url);
		return -EIO;
	}
	if (answer->size == 0)
		return 0;
	free(answer->given);
	answer->given = answer->data;
	*ret_data = answer->given;
	*ret_size = answer->size;
	answer->data = NULL;
	answer->size = answer->capacity = 0;
	return 1;
}

int lake_client_run(struct lake_client *client, const char *sql, char *ret_text, size_t capacity)
{
	struct lake_answer *answer;
	const void *data = NULL;
	size_t size = 0, used = 0, most = ret_text ? capacity : IGNORED_BYTES_MAX;
	int more, error = lake_client_ask(client, sql, NULL, &answer);

	if (error < 0)
		return error;
	while ((more = lake_answer_read(answer, &data, &size)) > 0) {
		if (used + size >= most) {
			snprintf(client->error, sizeof(client->error), "the lake returned more than was requested");
			more = -EIO;
			break;
		}
		if (ret_text)
			memcpy(ret_text + used, data, size);
		used += size;
	}
	if (ret_text)
		ret_text[used] = '\0';
	lake_answer_free(answer);
	return more;
}
