/* The parts of tracer-shipper that need no network: rows, batches, cursor, waits, settings, deliveries.
 * tests/shipper tests the whole program. */

#include "common/http/secret_file.h"
#include "common/shipper_status.h"
#include "shipper/batch.h"
#include "shipper/cloud.h"
#include "shipper/cursor.h"
#include "shipper/delivery.h"
#include "shipper/file.h"
#include "shipper/quarantine.h"
#include "shipper/retry.h"
#include "shipper/row.h"
#include "tests/suite.h"

static char directory[128];
static char too_long[SECRET_BYTES_MAX + 10];

static void begin(void)
{
	memset(too_long, 'a', sizeof(too_long));
	suite_directory(directory, sizeof(directory));
}

/* ---- rows -------------------------------------------------------------------------- */

static void row_ends_as(struct json_text *row, const char *expected)
{
	char text[256];

	ck_assert_int_eq(row_end(row), 0);
	snprintf(text, sizeof(text), "%.*s", (int)row->size, row->data);
	ck_assert_str_eq(text, expected);
	json_text_deinit(row);
}

/* clang-format off */
#define INTEGER(value) {.type = STORE_VALUE_INTEGER, .integer = value}
#define TEXT(bytes) {.type = STORE_VALUE_TEXT, .data = bytes, .size = sizeof(bytes) - 1}
#define BLOB(bytes) {.type = STORE_VALUE_BLOB, .data = bytes, .size = sizeof(bytes) - 1}
/* clang-format on */

/* Rows are plain ASCII, and blobs are lists. */
static const struct {
	struct store_value value;
	const char *row;
} rows[] = {
	{{.type = STORE_VALUE_NULL}, "{\"v\":null}\n"},
	{INTEGER(INT64_MIN), "{\"v\":-9223372036854775808}\n"},
	{TEXT("a\"b\\c\n\x7f\0d"), "{\"v\":\"a\\\"b\\\\c\\u000a\\u007f\\u0000d\"}\n"},
	{TEXT("\xc3\xa9\xf0\x9f\x98\x80"), "{\"v\":\"\\u00e9\\ud83d\\ude00\"}\n"},
	/* invalid UTF-8: a single byte, an overlong form, a truncated one, a surrogate */
	{TEXT("\xff|\xc0\x80|\xe2\x82|\xed\xa0\x80"),
	 "{\"v\":\"\\\\xff|\\\\xc0\\\\x80|\\\\xe2\\\\x82|\\\\xed\\\\xa0\\\\x80\"}\n"},
	{TEXT("\xe2\x80\xae\xc2\x9b"), "{\"v\":\"\\u202e\\u009b\"}\n"},
	{BLOB(""), "{\"v\":[]}\n"},
	{BLOB("bwa\0mem\0\0"), "{\"v\":[\"bwa\",\"mem\",\"\"]}\n"},
	{BLOB("cut"), "{\"v\":[\"cut\"]}\n"},
};

TEST_EACH(row_is, rows)
{
	struct json_text row = {0};

	row_begin(&row);
	row_add_value(&row, "v", &rows[_i].value);
	row_ends_as(&row, rows[_i].row);
}

/* An allocation failure does not persist. */
TEST(row_starts_over_after_a_failure)
{
	struct json_text row = {0};

	row_begin(&row);
	row_add_unsigned(&row, "a", 1);
	row.failed = true;
	ck_assert_int_eq(row_end(&row), -ENOMEM);
	row_begin(&row);
	row_add_unsigned(&row, "b", 2);
	row_ends_as(&row, "{\"b\":2}\n");
}

/* ---- batches ------------------------------------------------------------------------ */

static struct batch freeze(const char *line, unsigned count)
{
	struct batch batch = {.host_id = 0x1234, .entity = "runs", .from_version = 10, .to_version = 20};
	struct batch_writer *writer;

	ck_assert_int_eq(batch_writer_new(directory, &writer), 0);
	for (unsigned i = 0; i < count; i++)
		ck_assert_int_eq(batch_writer_add(writer, line, strlen(line)), 0);
	ck_assert_int_eq(batch_writer_finish(writer, &batch), 0);
	batch_writer_free(writer);
	return batch;
}

/* Sizes at which the output buffer is just full where the frame ends. */
TEST(frozen_batch_of_any_size_is_whole)
{
	for (unsigned kib = 32; kib <= 256; kib += 32) {
		struct batch batch = freeze("{\"id\":12345678}\n", kib * 64);

		ck_assert_uint_eq(batch.text_bytes, kib * 1024U);
		ck_assert_msg(batch_check(directory, &batch) == 0, "%u KiB", kib);
		batch.row_count++; /* differs from its file name */
		ck_assert_int_eq(batch_check(directory, &batch), -EBADMSG);
	}
}

TEST(same_rows_have_the_same_digest)
{
	struct batch one = freeze("{\"id\":1}\n", 10), two = freeze("{\"id\":1}\n", 10);
	struct batch three = freeze("{\"id\":2}\n", 10);

	ck_assert_str_eq(one.digest, two.digest);
	ck_assert_str_ne(one.digest, three.digest);
}

static const char *const other_names[] = {
	"",
	"cursor",
	".batch.tmp",
	"0000000000001234.runs.1-2.3.ndjson.zst",
	"0000000000001234.runs.00000000000000000010-00000000000000000020.3.ndjson",
	"0000000000001234.../etc.00000000000000000010-00000000000000000020.3.ndjson.zst",
	"0000000000001234.RUNS.00000000000000000010-00000000000000000020.3.ndjson.zst",
	"0000000000001234.runs.00000000000000000010-00000000000000000020.+3.ndjson.zst",
	"0000000000001234.runs.99999999999999999999-99999999999999999999.3.ndjson.zst",
	"1234.runs.00000000000000000010-00000000000000000020.3.ndjson.zst",
};

TEST_EACH(other_names_are_no_batches, other_names)
{
	struct batch batch;

	ck_assert_int_eq(batch_parse_name(other_names[_i], &batch), -EINVAL);
}

/* ---- cursor -------------------------------------------------------------------------- */

/* A reader, or a crash during the write, sees the old or the new file. */
TEST(files_are_replaced_not_written_into)
{
	char path[PATH_MAX], text[8] = "";
	FILE *before;

	ck_assert_int_eq(file_write(directory, "cursor", "old", 3, 0600, true), 0);
	ck_assert_int_eq(file_path(path, directory, "cursor"), 0);
	before = fopen(path, "r");
	ck_assert_ptr_nonnull(before);
	ck_assert_int_eq(file_write(directory, "cursor", "newer", 5, 0600, true), 0);
	ck_assert_uint_eq(fread(text, 1, sizeof(text), before), 3);
	ck_assert_str_eq(text, "old");
	fclose(before);
}

TEST(versions_never_fall)
{
	struct cursor cursor = {0};
	struct cursor_store store = {1, 1};

	cursor_restart(&cursor, &store, 1000);
	ck_assert_uint_eq(cursor.base_version, 1000);
	cursor.highest_version = 5000;
	cursor_restart(&cursor, &store, 2000); /* the clock was set back */
	ck_assert_uint_gt(cursor.base_version, 5000);
	ck_assert_int_eq(cursor_rev(&cursor), 0);
}

#define CURSOR(format, inode, base, highest, revs) \
	"{\"format\":" #format ",\"store_inode\":" #inode ",\"store_first_seen_unix_ns\":1," \
	"\"base_version\":" #base ",\"highest_version\":" #highest ",\"revs\":" revs "}"

/* The first is right. */
static const char *const cursors[] = {
	CURSOR(1, 1, 9, 9, "{}"),
	"",
	"{",
	"[]",
	"{\"format\":1}",
	CURSOR(2, 1, 9, 9, "{}"),
	CURSOR(1, "x", 9, 9, "{}"),
	CURSOR(1, -1, 9, 9, "{}"),
	CURSOR(1, 1, -1, 9, "{}"),
	CURSOR(1, 1, 9, 5, "{}"),
	CURSOR(1, 1, 9, 9, "[]"),
	CURSOR(1, 1, 9, 9, "{\"hosts\":-1}"),
};

TEST_EACH(wrong_cursor_is_refused, cursors)
{
	struct cursor cursor;

	ck_assert_int_eq(file_write(directory, "cursor", cursors[_i], strlen(cursors[_i]), 0600, false), 0);
	ck_assert_int_eq(cursor_load(directory, &cursor), _i ? -EBADMSG : 0);
}

/* A compromised shipper could put these there: readers neither block on them nor follow them. */
TEST(status_that_is_no_file_is_refused)
{
	char path[PATH_MAX];
	struct shipper_status status;

	ck_assert_int_eq(file_path(path, directory, SHIPPER_STATUS_FILE), 0);
	ck_assert_int_eq(shipper_status_read(directory, &status), -ENOENT);
	ck_assert_int_eq(mkfifo(path, 0644), 0);
	ck_assert_int_eq(shipper_status_read(directory, &status), -EBADMSG);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(symlink("/dev/zero", path), 0);
	ck_assert_int_eq(shipper_status_read(directory, &status), -ELOOP);
}

/* ---- waits --------------------------------------------------------------------------- */

TEST(waits_grow_to_a_bound)
{
	struct retry retry;
	uint64_t wait_ms, step_ms = RETRY_FIRST_MS;

	retry_init(&retry, 42);
	for (int i = 0; i < 1000; i++) {
		wait_ms = retry_failed(&retry, -1);
		ck_assert_uint_ge(wait_ms, step_ms / 2);
		ck_assert_uint_le(wait_ms, step_ms);
		step_ms = step_ms * 2 < RETRY_MAX_MS ? step_ms * 2 : RETRY_MAX_MS;
	}
	retry_succeeded(&retry);
	ck_assert_uint_le(retry_failed(&retry, -1), RETRY_FIRST_MS);
}

/* Hosts whose lake is down for an hour: each retries within a minute of its return, and they do not
 * retry all at once during the outage. */
TEST(a_fleet_tries_on_through_an_outage)
{
	enum { HOSTS = 1000, OUTAGE_S = 3600, SETTLED_S = 600, MOST_A_SECOND = 60 };
	static unsigned tries[OUTAGE_S];
	struct retry retry;

	memset(tries, 0, sizeof(tries));
	for (int host = 0; host < HOSTS; host++) {
		uint64_t now_ms = 0;

		retry_init(&retry, (uint64_t)host * 7919);
		while (now_ms < OUTAGE_S * 1000ULL) {
			tries[now_ms / 1000]++;
			now_ms += retry_failed(&retry, -1);
		}
		ck_assert_uint_le(now_ms, (OUTAGE_S + 60) * 1000ULL);
	}
	for (int second = SETTLED_S; second < OUTAGE_S; second++)
		ck_assert_uint_le(tries[second], MOST_A_SECOND);
}

TEST(waits_are_jittered_and_asked_for)
{
	struct retry one, two;
	bool differ = false;
	uint64_t wait_ms;

	retry_init(&one, 1);
	retry_init(&two, 3);
	for (int i = 0; i < 8; i++)
		differ |= retry_failed(&one, -1) != retry_failed(&two, -1);
	ck_assert(differ);
	retry_succeeded(&one);
	ck_assert_uint_ge(retry_failed(&one, 30), 30000);
	wait_ms = retry_failed(&one, INT32_MAX);
	ck_assert_uint_le(wait_ms, (RETRY_AFTER_MAX_S + 1) * 1000ULL);
	for (int i = 0; i < 1000; i++) {
		wait_ms = retry_jitter(&one, 60000);
		ck_assert_uint_ge(wait_ms, 54000);
		ck_assert_uint_le(wait_ms, 66000);
	}
}

/* ---- settings ------------------------------------------------------------------------ */

static int settings_of(const char *text, struct settings_error *error)
{
	struct settings settings;
	int result;

	ck_assert_int_eq(settings_init(&settings), 0);
	result = settings_parse(&settings, "shipper.yaml", text, strlen(text), error);
	if (result == 0)
		result = settings_check(&settings, error);
	settings_deinit(&settings);
	return result;
}

TEST(as_much_can_be_left_out_as_is_promised)
{
	char text[8192] = "lake: {url: 'https://l'}\nsend:\n  leave-out:\n";
	struct settings_error error = {""};

	for (int i = 0; i < SETTINGS_LEAVE_OUT_MAX; i++)
		strcat(text, "    - processes.arguments\n");
	ck_assert_msg(settings_of(text, &error) == 0, "%s", error.text);
}

/* What is wrong with them; NULL: nothing. */
static const struct {
	const char *text, *words;
} settings_texts[] = {
	{"lake:\n  url: https://lake.example.org:8443\n", NULL},
	{"lake: {url: 'http://127.0.0.1:8123'}\n", NULL},
	{"lake: {url: 'http://[::1]:8123', user: shipper, password-file: secret}\n", NULL},
	{"lake: {url: 'http://lake:8123', insecure-http: true}\n", NULL},
	{"lake: {url: 'https://lake', proxy: 'http://p:3128'}\n", NULL},
	{"lake: {url: 'http://localhost', proxy: 'http://127.0.0.1:3128'}\n", NULL},
	{"lake: {url: 'http://lake', proxy: 'http://p:3128', insecure-http: true}\n", NULL},
	{"sink: ndjson\nndjson: {directory: /var/out, size: 5G}\n", NULL},
	{"sink: otlp\nlake: {url: 'https://collector:4318', token-file: token}\n", NULL},
	{"sink: otlp\n", "lake.url: not set"},
	{"lake: {url: 'https://l'}\nsend:\n  interval: 5m\n  leave-out: [samples, processes.arguments]\n", NULL},
	{"lake: {url: 'https://l'}\ncloud: auto\n", NULL},
	{"", "lake.url: not set: give the lake's URL"},
	{"lake:\n  uri: x\n", "shipper.yaml:2: unknown setting lake.uri: did you mean \"lake.url\"?"},
	{"lake:\n  url: [a]\n", "shipper.yaml:2: lake.url: expected text, found a list"},
	{"lake: {url: 'http://lake:8123'}\n", "in clear text"},
	{"lake: {url: 'http://127.0.0.1.example.org'}\n", "in clear text"},
	{"lake: {url: 'http://localhost.example.org'}\n", "in clear text"},
	{"lake: {url: 'ftp://lake'}\n", "must begin with https://"},
	{"lake: {url: 'https://u:hunter2@lake'}\n", "must not contain a user or password"},
	{"lake: {url: 'https://lake/?password=hunter2'}\n", "must not contain ?"},
	{"lake: {url: 'https://l', proxy: 'http://u:hunter2@p'}\n", "lake.proxy-password-file"},
	{"lake: {url: 'http://localhost', proxy: 'http://p:3128'}\n", "lake.proxy: would receive the password"},
	{"lake: {url: 'https://l', password-file: x}\n", "requires lake.user"},
	{"lake: {url: 'https://l', certificate-file: x}\n", "require each other"},
	{"lake: {url: 'https://l', database: 'a b; DROP'}\n", "expected at most 64 letters"},
	{"send:\n  interval: soon\n", "shipper.yaml:2: send.interval: \"soon\" is not a number"},
	{"send:\n  interval: 5y\n", "is not a number of seconds"},
	{"send:\n  rows: 2000000\n", "is out of range"},
	{"send:\n  rows: -1\n", "is not a number"},
	{"sink: kafka\n", "unknown sink kafka"},
	{"sink: ndjson\n", "ndjson.directory: not set"},
	{"cloud: maybe\n", "expected off, auto, aws"},
	{"lake: {url: 'https://l'}\nsend:\n  leave-out: [sampels]\n", "unknown entity sampels"},
	{"lake: {url: 'https://l'}\nsend:\n  leave-out: [processes.argv]\n", "has no column argv"},
	{"send:\n  leave-out: [runs.id]\n", "cannot be left out"},
	{"send:\n  leave-out: arguments\n", "expected a list"},
	{"- a\n", "expected `name: value` lines"},
	{"lake: {url: 'https://l\n", "shipper.yaml:"},
};

TEST_EACH(errors_in_settings_have_place_and_reason, settings_texts)
{
	const char *words = settings_texts[_i].words;
	struct settings_error error = {""};

	ck_assert_msg(settings_of(settings_texts[_i].text, &error) == (words ? -EINVAL : 0), "%s", error.text);
	ck_assert_msg(!words || strstr(error.text, words), "%s: %s", settings_texts[_i].text, error.text);
	ck_assert_msg(!strstr(error.text, "hunter2"), "%s", error.text);
}

/* ---- secrets ------------------------------------------------------------------------- */

/* Secrets are for one reader. */
static const struct {
	const char *text;
	size_t size;
	mode_t mode;
	int error;
} secrets[] = {
	{"hunter2\n", 8, 0600, 0},       {"hunter2", 7, 0400, 0},
	{"hunter2\n", 8, 0640, -EACCES}, {"hunter2\n", 8, 0604, -EACCES},
	{"", 0, 0600, -EINVAL},          {"hunter2\r\nX-Header: 1\n", 21, 0600, -EINVAL},
	{"hun\0ter2", 8, 0600, -EINVAL}, {too_long, sizeof(too_long), 0600, -EINVAL},
};

TEST_EACH(secret_is_read, secrets)
{
	char path[PATH_MAX], reason[512] = "";
	struct secret_file secret;

	ck_assert_int_eq(file_write(directory, "secret", secrets[_i].text, secrets[_i].size, secrets[_i].mode, false),
			 0);
	ck_assert_int_eq(file_path(path, directory, "secret"), 0);
	ck_assert_int_eq(secret_file_read(path, &secret, reason, sizeof(reason)), secrets[_i].error);
	if (secrets[_i].error == 0)
		ck_assert_str_eq(secret.text, "hunter2");
	else
		ck_assert_msg(!strstr(reason, "hunter2"), "%s", reason);
}

/* ---- deliveries ------------------------------------------------------------------------ */

#define OK .status = 200, .is_clickhouse = true

/* Only ClickHouse can accept, and each failure names its fix. */
static const struct {
	struct http_answer answer;
	enum delivery_kind kind;
	const char *words;
} deliveries[] = {
	{{OK}, DELIVERY_ACCEPTED, ""},
	{{.status = 200}, DELIVERY_RETRY, "not from ClickHouse"},
	{{.status = 204, .is_clickhouse = true}, DELIVERY_RETRY, "status 204"},
	{{OK, .failure = HTTP_CUT}, DELIVERY_RETRY, "connection was interrupted"},
	{{OK, .exception_code = 60}, DELIVERY_RETRY, "tracer lake init"},
	{{OK, .body = "Code: 27. DB::Exception: Cannot parse"}, DELIVERY_REFUSED, "rejected rows of runs: Code: 27"},
	{{OK, .body = "1"}, DELIVERY_RETRY, ""},
	{{.failure = HTTP_NO_NAME}, DELIVERY_RETRY, "DNS"},
	{{.failure = HTTP_NO_PROXY_NAME}, DELIVERY_RETRY, "lake.proxy"},
	{{.failure = HTTP_NO_CONNECTION}, DELIVERY_RETRY, "check that the lake is running"},
	{{.failure = HTTP_TIMEOUT}, DELIVERY_RETRY, "lake.timeout"},
	{{.failure = HTTP_CUT}, DELIVERY_RETRY, "interrupted"},
	{{.failure = HTTP_TLS_HANDSHAKE}, DELIVERY_RETRY, "lake.certificate-file"},
	{{.failure = HTTP_TLS_PEER, .tls_verify_result = 19}, DELIVERY_RETRY, "lake.ca-file"},
	{{.failure = HTTP_TLS_PEER, .tls_verify_result = 10}, DELIVERY_RETRY, "expired"},
	{{.failure = HTTP_TLS_PEER, .tls_verify_result = 9}, DELIVERY_RETRY, "clock"},
	{{.failure = HTTP_TLS_LOCAL}, DELIVERY_RETRY, "key-file"},
	{{.failure = HTTP_OTHER}, DELIVERY_RETRY, "https://lake"},
	{{.status = 403, .date_unix_s = 5000000}, DELIVERY_RETRY, "clock"},
	{{.status = 401}, DELIVERY_RETRY, "lake.token-file"},
	{{.status = 407}, DELIVERY_RETRY, "lake.proxy-user"},
	{{.status = 413}, DELIVERY_TOO_LARGE, "raise its limit"},
	{{.status = 502}, DELIVERY_RETRY, "status 502"},
	{{.status = 302, .location = "https://u:p@elsewhere/"}, DELIVERY_RETRY, "not followed"},
	{{.status = 403, .exception_code = 516}, DELIVERY_RETRY, "the lake rejected user shipper"},
	{{.status = 500, .exception_code = 241, .body = "Code: 241. Memory"},
	 DELIVERY_TOO_MUCH,
	 "cannot accept it now: Code: 241"},
	{{.status = 500, .exception_code = 159}, DELIVERY_TOO_MUCH, "cannot accept it now"},
	{{.status = 500, .exception_code = 252}, DELIVERY_RETRY, "cannot accept it now"},
};

TEST_EACH(delivery_is, deliveries)
{
	const struct delivery_context context = {"https://lake", "tracer", "runs", "shipper", 1000000};
	struct http_answer answer = deliveries[_i].answer;
	struct delivery delivery;

	answer.body_size = strlen(answer.body);
	if (answer.failure)
		strcpy(answer.error, "words");
	delivery_read(&answer, &context, &delivery);
	ck_assert_msg(delivery.kind == deliveries[_i].kind, "%s: %d", delivery.reason, delivery.kind);
	ck_assert_msg(strstr(delivery.reason, deliveries[_i].words), "%s, expected %s", delivery.reason,
		      deliveries[_i].words);
}

/* https://opentelemetry.io/docs/specs/otlp/#otlphttp-response */
static const struct {
	struct http_answer answer;
	enum delivery_kind kind;
	uint64_t rejected_count;
	const char *words;
} otlp_deliveries[] = {
	{{.status = 200, .body = "{}"}, DELIVERY_ACCEPTED, 0, ""},
	{{.status = 200}, DELIVERY_ACCEPTED, 0, ""},
	{{.status = 202, .body = "{\"partialSuccess\":{}}"}, DELIVERY_ACCEPTED, 0, ""},
	{{.status = 200, .body = "{\"partialSuccess\":{\"rejectedSpans\":\"7\"}}"},
	 DELIVERY_ACCEPTED,
	 7,
	 "rejected 7 spans"},
	{{.status = 200, .body = "{\"partialSuccess\":{\"rejectedSpans\":7,\"errorMessage\":\"old\"}}"},
	 DELIVERY_ACCEPTED,
	 7,
	 "spans: old"},
	{{.status = 200, .body = "{\"partialSuccess\":{\"errorMessage\":\"slow down\"}}"},
	 DELIVERY_ACCEPTED,
	 0,
	 "warns: slow down"},
	{{.status = 200, .body = "{\"partialSuccess\":{\"rejectedSpans\":-7,\"errorMessage\":5}}"},
	 DELIVERY_ACCEPTED,
	 0,
	 ""},
	{{.status = 200, .body = "{\"partialSuccess\":[]}"}, DELIVERY_ACCEPTED, 0, ""},
	{{.status = 200, .body = "<html>"}, DELIVERY_RETRY, 0, "as no OTLP receiver does"},
	{{.status = 200, .body = "[]"}, DELIVERY_RETRY, 0, "portal"},
	{{.status = 302, .location = "https://elsewhere/"}, DELIVERY_RETRY, 0, "not followed"},
	{{.status = 400, .body = "{\"message\":\"no\"}"},
	 DELIVERY_INVALID,
	 0,
	 "rejected runs_spans (status 400): {\"message\":\"no\"}"},
	{{.status = 401}, DELIVERY_INVALID, 0, "status 401"},
	{{.status = 403}, DELIVERY_INVALID, 0, "no reason given"},
	{{.status = 404}, DELIVERY_INVALID, 0, "status 404"},
	{{.status = 407}, DELIVERY_RETRY, 0, "lake.proxy-user"},
	{{.status = 408}, DELIVERY_INVALID, 0, "status 408"},
	{{.status = 413}, DELIVERY_TOO_LARGE, 0, "raise its limit"},
	{{.status = 429, .retry_after_s = 9}, DELIVERY_RETRY, 0, "too many requests"},
	{{.status = 500}, DELIVERY_INVALID, 0, "status 500"},
	{{.status = 501}, DELIVERY_INVALID, 0, "status 501"},
	{{.status = 502, .retry_after_s = 9}, DELIVERY_RETRY, 0, "status 502"},
	{{.status = 503, .retry_after_s = 9}, DELIVERY_RETRY, 0, "status 503"},
	{{.status = 504, .retry_after_s = 9}, DELIVERY_RETRY, 0, "status 504"},
	{{.status = 505}, DELIVERY_INVALID, 0, "status 505"},
	{{.failure = HTTP_TIMEOUT}, DELIVERY_RETRY, 0, "timed out"},
	{{.failure = HTTP_CUT, .status = 200, .body = "{}"}, DELIVERY_RETRY, 0, "interrupted"},
};

TEST_EACH(otlp_delivery_is, otlp_deliveries)
{
	const struct delivery_context context = {"https://collector", "tracer", "runs_spans", "", 1000000};
	struct http_answer answer = otlp_deliveries[_i].answer;
	struct delivery delivery;

	answer.body_size = strlen(answer.body);
	if (answer.failure)
		strcpy(answer.error, "words");
	delivery_read_otlp(&answer, &context, &delivery);
	ck_assert_msg(delivery.kind == otlp_deliveries[_i].kind, "%s: %d", delivery.reason, delivery.kind);
	ck_assert_uint_eq(delivery.rejected_count, otlp_deliveries[_i].rejected_count);
	ck_assert_int_eq(delivery.retry_after_s, answer.retry_after_s);
	ck_assert_msg(strstr(delivery.reason, otlp_deliveries[_i].words), "%s, expected %s", delivery.reason,
		      otlp_deliveries[_i].words);
	ck_assert_msg(otlp_deliveries[_i].words[0] || !delivery.reason[0], "%s", delivery.reason);
}

static void count_answer(const struct http_answer *answer, void *data)
{
	ck_assert_int_eq(answer->failure, HTTP_NO_CONNECTION);
	++*(int *)data;
}

/* LeakSanitizer runs at the end of this process; the confined shipper cannot run it. */
TEST(requests_leave_nothing_behind)
{
	const struct http_request request = {
		.url = "http://127.0.0.1:1/",
		.headers = {"Content-Type: text/plain"},
		.body_fd = -1,
		.connect_timeout_ms = 10000,
		.stall_timeout_s = 10,
	};
	struct http *http;
	uv_loop_t loop;
	char reason[64];
	int count = 0;

	ck_assert_int_eq(uv_loop_init(&loop), 0);
	ck_assert_int_eq(http_new(&loop, &http), 0);
	for (int i = 0; i < 100; i++) {
		ck_assert_int_eq(http_start(http, &request, count_answer, &count, reason, sizeof(reason)), 0);
		uv_run(&loop, UV_RUN_DEFAULT);
	}
	ck_assert_int_eq(count, 100);
	ck_assert_int_eq(http_start(http, &request, count_answer, &count, reason, sizeof(reason)), 0);
	http_free(http); /* while the request is in progress */
	uv_run(&loop, UV_RUN_DEFAULT);
	ck_assert_int_eq(uv_loop_close(&loop), 0);
	ck_assert_int_eq(count, 100);
}

static const struct {
	const char *text;
	size_t size;
	const char *field;
} cloud_fields[] = {
	{"i-0abc", 6, "i-0abc"}, {"projects/1/zones/europe-west1-b", 31, "europe-west1-b"},
	{"<html>", 6, ""},       {too_long, CLOUD_TEXT_BYTES + 1, ""},
	{"a\0b", 3, ""},
};

TEST_EACH(cloud_fields_are_names, cloud_fields)
{
	char field[CLOUD_TEXT_BYTES] = "other";

	cloud_take_field(field, cloud_fields[_i].text, cloud_fields[_i].size);
	ck_assert_str_eq(field, cloud_fields[_i].field);
}

/* A reason quotes the server. */
TEST(reason_of_quarantined_batch_is_escaped)
{
	struct batch batch = freeze("{\"id\":1}\n", 1);
	char path[512], line[128] = "";
	FILE *file;

	ck_assert_int_eq(quarantine_put(directory, &batch,
					"Code: 6. \033]0;x\n\xe2\x80\xae\xe2\x80\x8b\xf3\xa0\x81\x81", 1 << 20),
			 0);
	snprintf(path, sizeof(path), "%s/" QUARANTINE_DIRECTORY "/%s.reason", directory, batch.name);
	file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	ck_assert_uint_gt(fread(line, 1, sizeof(line) - 1, file), 0);
	fclose(file);
	ck_assert_str_eq(line, "Code: 6. \\e]0;x\\n\\u{202e}\\u{200b}\\u{e0041}\n");
}

int main(void)
{
	return suite_run("shipper_parts", begin, NULL);
}
