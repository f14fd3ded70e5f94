/* What hosts cost an hour. See prices.h. */
#include "cost/prices.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/grow.h"
#include "common/yaml/arena.h"
#include "cost/csv_file.h"

#define NANOS INT64_C(1000000000)
#define HOUR_NS (INT64_C(3600) * NANOS)
#define AMOUNT_MAX INT64_C(100000)
#define ROWS_MAX 1000000

enum column { CLASS, PRICE, END, ID, ID_FIELD, TYPE, REGION, LIFECYCLE, CURRENCY, COLUMN_COUNT };

static const char *const column_names[COLUMN_COUNT] = {
	[CLASS] = "AssetClass", [PRICE] = "MarketPriceHourly",  [END] = "EndTimestamp",
	[ID] = "InstanceID",    [ID_FIELD] = "InstanceIDField", [TYPE] = "InstanceType",
	[REGION] = "Region",    [LIFECYCLE] = "Lifecycle",      [CURRENCY] = "Currency",
};
static const struct csv_columns columns = {column_names, COLUMN_COUNT, 2, 0};

enum asset { ASSET_NODE, ASSET_CPU, ASSET_MEMORY, ASSET_GPU, ASSET_COUNT, ASSET_IGNORED };

static const struct {
	const char *name;
	enum asset asset;
} assets[] = {{"node", ASSET_NODE},  {"cpu", ASSET_CPU}, {"memory", ASSET_MEMORY},
	      {"ram", ASSET_MEMORY}, {"gpu", ASSET_GPU}, {"pv", ASSET_IGNORED}};

enum id_field { ID_INSTANCE, ID_HOSTNAME, ID_CLUSTER };

static const struct {
	const char *name;
	enum id_field field;
} id_fields[] = {{"", ID_INSTANCE},         {"spec.providerID", ID_INSTANCE}, {"instance_id", ID_INSTANCE},
		 {"hostname", ID_HOSTNAME}, {"metadata.name", ID_HOSTNAME},   {"cluster", ID_CLUSTER}};

struct price_row {
	enum asset asset;
	enum id_field id_field;
	const char *id, *type, *region, *lifecycle; /* NULL: any */
	int64_t nanos;
	int64_t end_unix_ns; /* INT64_MAX: none */
	unsigned line;
};

struct prices {
	struct price_row *rows;
	size_t count, capacity;
	const char *currency; /* NULL: no row says */
	struct arena texts;
};

/* ---- reading --------------------------------------------------------------------- */

int prices_parse_amount(const char *text, int64_t *ret_nanos)
{
	int64_t nanos = 0, unit = NANOS;
	bool is_fraction = false, has_digits = false;

	for (; *text; text++) {
		if (*text == '.' && !is_fraction) {
			is_fraction = true;
			continue;
		}
		if (!isdigit((unsigned char)*text))
			return -EINVAL;
		has_digits = true;
		if (is_fraction) {
			unit /= 10;
			nanos += (*text - '0') * unit;
		} else {
			nanos = nanos * 10 + (*text - '0') * NANOS;
		}
		if (nanos > AMOUNT_MAX * NANOS)
			return -ERANGE;
	}
	if (!has_digits)
		return -EINVAL;
	*ret_nanos = nanos;
	return 0;
}

/* A time in UTC, or a date: until that day begins. */
static int end_parse(const char *text, int64_t *ret_unix_ns)
{
	static const char *const formats[] = {"%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%d %H:%M:%S UTC", "%Y-%m-%d"};

	if (!*text) {
		*ret_unix_ns = INT64_MAX;
		return 0;
	}
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct tm utc = {0};
		const char *end = strptime(text, formats[i], &utc);
		time_t seconds = end && !*end ? timegm(&utc) : -1;

		if (seconds < 0 || seconds >= INT64_MAX / NANOS)
			continue;
		*ret_unix_ns = seconds * NANOS;
		return 0;
	}
	return -EINVAL;
}

static int refuse(struct tree_error *error, const char *column, const char *text, const char *expected)
{
	return tree_error_set(error, "", 0, "%s: expected %s, not '%.64s'", column, expected, text);
}

/* Returns a copy, NULL for an empty text or *, which both match everything. */
static int text_take(struct prices *prices, const char *text, const char **ret_text)
{
	*ret_text = NULL;
	if (!*text || strcmp(text, "*") == 0)
		return 0;
	*ret_text = arena_copy(&prices->texts, text, strlen(text));
	return *ret_text ? 0 : -ENOMEM;
}

static int currency_take(struct prices *prices, const char *text, struct tree_error *error)
{
	if (!*text)
		text = "USD";
	if (prices->currency && strcmp(prices->currency, text) != 0)
		return tree_error_set(error, "", 0, "Currency: %.16s, but earlier rows have %.16s", text,
				      prices->currency);
	if (strlen(text) != 3)
		return refuse(error, "Currency", text, "three letters such as USD");
	return prices->currency ? 0 : text_take(prices, text, &prices->currency);
}

static int row_take(void *context, const struct csv_row *csv, struct tree_error *error)
{
	struct prices *prices = context;
	struct price_row row = {.asset = ASSET_COUNT, .line = csv->line}, *grown;
	bool has_id_field = false;

	for (size_t i = 0; i < sizeof(assets) / sizeof(assets[0]); i++)
		if (strcasecmp(assets[i].name, csv->fields[CLASS]) == 0)
			row.asset = assets[i].asset;
	for (size_t i = 0; i < sizeof(id_fields) / sizeof(id_fields[0]); i++)
		if (strcasecmp(id_fields[i].name, csv->fields[ID_FIELD]) == 0) {
			row.id_field = id_fields[i].field;
			has_id_field = true;
		}
	if (row.asset == ASSET_IGNORED)
		return 0;
	if (row.asset == ASSET_COUNT)
		return refuse(error, "AssetClass", csv->fields[CLASS], "node, cpu, memory or gpu");
	if (!has_id_field)
		return refuse(error, "InstanceIDField", csv->fields[ID_FIELD], "instance_id, hostname or cluster");
	if (prices_parse_amount(csv->fields[PRICE], &row.nanos) < 0)
		return refuse(error, "MarketPriceHourly", csv->fields[PRICE], "an amount such as 0.096");
	if (end_parse(csv->fields[END], &row.end_unix_ns) < 0)
		return refuse(error, "EndTimestamp", csv->fields[END],
			      "a date such as 2026-12-31, or a time such as 2026-12-31T00:00:00Z");
	if (currency_take(prices, csv->fields[CURRENCY], error) < 0)
		return -EINVAL;
	if (prices->count == ROWS_MAX)
		return tree_error_set(error, "", 0, "more than %d prices", ROWS_MAX);
	grown = grow(prices->rows, &prices->capacity, prices->count + 1, sizeof(row));
	if (!grown)
		return -ENOMEM;
	prices->rows = grown;
	if (text_take(prices, csv->fields[ID], &row.id) < 0 || text_take(prices, csv->fields[TYPE], &row.type) < 0 ||
	    text_take(prices, csv->fields[REGION], &row.region) < 0 ||
	    text_take(prices, csv->fields[LIFECYCLE], &row.lifecycle) < 0)
		return -ENOMEM;
	prices->rows[prices->count++] = row;
	return 0;
}

int prices_load(const char *path, bool may_be_missing, struct prices **ret_prices, struct tree_error *ret_error)
{
	struct prices *prices = calloc(1, sizeof(*prices));
	int error = 0;

	if (!prices)
		return -ENOMEM;
	if (path && !(may_be_missing && access(path, F_OK) < 0 && errno == ENOENT))
		error = csv_read(path, &columns, row_take, prices, ret_error);
	if (error < 0) {
		prices_free(prices);
		return error;
	}
	*ret_prices = prices;
	return 0;
}

void prices_free(struct prices *prices)
{
	if (!prices)
		return;
	arena_deinit(&prices->texts);
	free(prices->rows);
	free(prices);
}

const char *prices_currency(const struct prices *prices)
{
	return prices->currency ? prices->currency : "USD";
}

size_t prices_count(const struct prices *prices)
{
	return prices->count;
}

/* ---- the price of a host --------------------------------------------------------- */

/* The id of spec.providerID is the last part of a path: aws:///us-east-1a/i-0abc. */
static bool id_matches(const struct price_row *row, const struct prices_host *host)
{
	const char *slash = row->id_field == ID_INSTANCE ? strrchr(row->id, '/') : NULL;
	const char *of_host = row->id_field == ID_HOSTNAME  ? host->hostname
			      : row->id_field == ID_CLUSTER ? host->cluster
							    : host->instance_id;

	return of_host && fnmatch(slash ? slash + 1 : row->id, of_host, 0) == 0;
}

static bool matches(const char *pattern, const char *text)
{
	return !pattern || (text && fnmatch(pattern, text, 0) == 0);
}

/* How much the row says about the host: 0 nothing more than that it is one, -1 that it is another. */
static int rank(const struct price_row *row, const struct prices_host *host)
{
	if ((row->id && !id_matches(row, host)) || !matches(row->type, host->instance_type) ||
	    !matches(row->region, host->region) || !matches(row->lifecycle, host->lifecycle))
		return -1;
	return (row->id ? 8 : 0) + (row->type ? 4 : 0) + (row->region ? 2 : 0) + (row->lifecycle ? 1 : 0);
}

/* Of two rows that say as much, the one that ends first; of those, the first. */
static bool is_better(const struct price_row *row, int row_rank, const struct price_row *than, int than_rank)
{
	if (!than || row_rank != than_rank)
		return !than || row_rank > than_rank;
	return row->end_unix_ns < than->end_unix_ns;
}

struct price prices_find(const struct prices *prices, const struct prices_host *host, int64_t unix_ns)
{
	const struct price_row *best[ASSET_COUNT] = {NULL};
	int ranks[ASSET_COUNT];
	struct price price = {.basis = PRICES_DEFAULT,
			      .cpu_nanos = PRICES_DEFAULT_CPU_NANOS,
			      .memory_nanos = PRICES_DEFAULT_MEMORY_NANOS,
			      .gpu_nanos = PRICES_DEFAULT_GPU_NANOS,
			      .until_unix_ns = INT64_MAX};

	for (size_t i = 0; i < prices->count; i++) {
		const struct price_row *row = &prices->rows[i];
		int row_rank = rank(row, host);

		if (row_rank < 0 || row->end_unix_ns <= unix_ns)
			continue;
		/* Whichever row it is, another may follow when any of them ends. */
		if (row->end_unix_ns < price.until_unix_ns)
			price.until_unix_ns = row->end_unix_ns;
		if (is_better(row, row_rank, best[row->asset], best[row->asset] ? ranks[row->asset] : 0)) {
			best[row->asset] = row;
			ranks[row->asset] = row_rank;
		}
	}
	if (best[ASSET_GPU])
		price.gpu_nanos = best[ASSET_GPU]->nanos;
	else if (best[ASSET_NODE])
		price.gpu_nanos = 0;
	if (best[ASSET_NODE] && (!best[ASSET_CPU] || ranks[ASSET_NODE] >= ranks[ASSET_CPU]) &&
	    (!best[ASSET_MEMORY] || ranks[ASSET_NODE] >= ranks[ASSET_MEMORY])) {
		price.basis = PRICES_NODE;
		price.node_nanos = best[ASSET_NODE]->nanos;
		price.cpu_nanos = price.memory_nanos = 0;
		price.line = best[ASSET_NODE]->line;
	} else if (best[ASSET_CPU] || best[ASSET_MEMORY]) {
		price.basis = PRICES_RATES;
		price.cpu_nanos = best[ASSET_CPU] ? best[ASSET_CPU]->nanos : 0;
		price.memory_nanos = best[ASSET_MEMORY] ? best[ASSET_MEMORY]->nanos : 0;
		price.line = best[ASSET_CPU] ? best[ASSET_CPU]->line : best[ASSET_MEMORY]->line;
	}
	return price;
}

/* The product of an amount, a quantity and a part of an hour exceeds 64 bits. */
__extension__ typedef __int128 wide;

static int64_t amount(int64_t nanos, int64_t quantity, int64_t ns, int64_t divisor)
{
	wide product;

	if (__builtin_mul_overflow((wide)nanos * quantity, (wide)ns, &product))
		return INT64_MAX;
	product /= (wide)HOUR_NS * divisor;
	return product > INT64_MAX ? INT64_MAX : (int64_t)product;
}

int64_t price_limit(int64_t figure, int64_t most)
{
	if (figure < 0)
		return 0;
	return figure < most ? figure : most;
}

void price_bill(const struct price *price, int64_t cpu_count, int64_t memory_bytes, int64_t ns, int64_t *ret_cpu_nanos,
		int64_t *ret_memory_nanos)
{
	int64_t mib = price_limit(memory_bytes, PRICE_MEMORY_BYTES_MAX) >> 20, whole, weight;

	cpu_count = price_limit(cpu_count, PRICE_CPUS_MAX);
	weight = cpu_count * PRICES_CORE_WEIGHT * 1024 + mib;
	if (price->basis != PRICES_NODE) {
		*ret_cpu_nanos = amount(price->cpu_nanos, cpu_count, ns, 1);
		*ret_memory_nanos = amount(price->memory_nanos, mib, ns, 1024);
		return;
	}
	whole = amount(price->node_nanos, 1, ns, 1);
	*ret_cpu_nanos = weight > 0 ? (int64_t)((wide)whole * cpu_count * PRICES_CORE_WEIGHT * 1024 / weight) : whole;
	*ret_memory_nanos = whole - *ret_cpu_nanos;
}
