/* What hosts cost an hour. See prices.h. */
#include "analysis/cost/prices.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analysis/cost/csv_file.h"
#include "common/grow.h"
#include "common/yaml/arena.h"

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
	struct pattern id, type, region, lifecycle;
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

/* The id of spec.providerID is the last part of a path: aws:///us-east-1a/i-0abc. */
static const char *id_of(const struct price_row *row, const char *text)
{
	const char *slash = row->id_field == ID_INSTANCE ? strrchr(text, '/') : NULL;

	return slash ? slash + 1 : text;
}

static int currency_take(struct prices *prices, const char *text, struct tree_error *error)
{
	if (!*text)
		text = PRICES_DEFAULT_CURRENCY;
	if (prices->currency && strcmp(prices->currency, text) != 0)
		return tree_error_set(error, "", 0, "Currency: %.16s, but earlier rows have %.16s", text,
				      prices->currency);
	if (strlen(text) != 3)
		return refuse(error, "Currency", text, "three letters such as USD");
	if (!prices->currency)
		prices->currency = arena_copy(&prices->texts, text, strlen(text));
	return prices->currency ? 0 : -ENOMEM;
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
	if (pattern_make(&prices->texts, id_of(&row, csv->fields[ID]), &row.id) < 0 ||
	    pattern_make(&prices->texts, csv->fields[TYPE], &row.type) < 0 ||
	    pattern_make(&prices->texts, csv->fields[REGION], &row.region) < 0 ||
	    pattern_make(&prices->texts, csv->fields[LIFECYCLE], &row.lifecycle) < 0)
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
	return prices->currency ? prices->currency : PRICES_DEFAULT_CURRENCY;
}

size_t prices_count(const struct prices *prices)
{
	return prices->count;
}

/* ---- the price of a host --------------------------------------------------------- */

/* How much the row says about the host: 0 nothing more than that it is one, -1 that it is another. */
static int rank_of(const struct price_row *row, const struct prices_host *host)
{
	const char *id = row->id_field == ID_HOSTNAME  ? host->hostname
			 : row->id_field == ID_CLUSTER ? host->cluster
						       : host->instance_id;

	if (!pattern_matches(&row->id, id) || !pattern_matches(&row->type, host->instance_type) ||
	    !pattern_matches(&row->region, host->region) || !pattern_matches(&row->lifecycle, host->lifecycle))
		return -1;
	return (row->id.text ? 8 : 0) + (row->type.text ? 4 : 0) + (row->region.text ? 2 : 0) +
	       (row->lifecycle.text ? 1 : 0);
}

/* A row that says something about a host. */
struct candidate {
	const struct price_row *row;
	int rank;
};

/* The one that ends last first; of those, the last of the list. */
static int compare_candidates(const void *left, const void *right)
{
	const struct price_row *a = ((const struct candidate *)left)->row;
	const struct price_row *b = ((const struct candidate *)right)->row;

	if (a->end_unix_ns != b->end_unix_ns)
		return a->end_unix_ns > b->end_unix_ns ? -1 : 1;
	return a->line > b->line ? -1 : a->line < b->line;
}

static int candidates_find(const struct prices *prices, const struct prices_host *host, struct candidate **ret_items,
			   size_t *ret_count)
{
	struct candidate *items = NULL, *grown;
	size_t count = 0, capacity = 0;

	for (size_t i = 0; i < prices->count; i++) {
		int rank = rank_of(&prices->rows[i], host);

		if (rank < 0)
			continue;
		grown = grow(items, &capacity, count + 1, sizeof(*items));
		if (!grown) {
			free(items);
			return -ENOMEM;
		}
		items = grown;
		items[count++] = (struct candidate){&prices->rows[i], rank};
	}
	if (count > 1)
		qsort(items, count, sizeof(*items), compare_candidates);
	*ret_items = items;
	*ret_count = count;
	return 0;
}

/* A row of a type of machine that names no lifecycle has the price on demand: lists of clouds are like that. */
static bool may_be_spot(const struct price_row *row, const struct prices_host *host)
{
	return host->is_cloud && row->type.text && !row->lifecycle.text && !row->id.text &&
	       (!host->lifecycle || strcmp(host->lifecycle, "spot") == 0);
}

/* The price until a time, from the best row of each class; without any, the defaults, which are dollars. */
static struct price price_from(const struct prices *prices, const struct prices_host *host,
			       const struct candidate best[ASSET_COUNT], int64_t until)
{
	const struct candidate *node = &best[ASSET_NODE], *cpu = &best[ASSET_CPU], *memory = &best[ASSET_MEMORY];
	const struct candidate *gpu = &best[ASSET_GPU];
	struct price price = {.until_unix_ns = until};

	if (node->row && node->rank >= cpu->rank && node->rank >= memory->rank) {
		price.basis = PRICES_NODE;
		price.node_nanos = node->row->nanos;
		price.line = node->row->line;
		price.may_be_spot = may_be_spot(node->row, host);
	} else if (cpu->row || memory->row) {
		price.basis = PRICES_RATES;
		price.cpu_nanos = cpu->row ? cpu->row->nanos : 0;
		price.memory_nanos = memory->row ? memory->row->nanos : 0;
		price.gpu_nanos = gpu->row ? gpu->row->nanos : 0;
		price.line = cpu->row ? cpu->row->line : memory->row->line;
		price.may_be_spot = may_be_spot(cpu->row ? cpu->row : memory->row, host);
	} else if (strcmp(prices_currency(prices), PRICES_DEFAULT_CURRENCY) == 0) {
		price.basis = PRICES_DEFAULT;
		price.cpu_nanos = PRICES_DEFAULT_CPU_NANOS;
		price.memory_nanos = PRICES_DEFAULT_MEMORY_NANOS;
		price.gpu_nanos = PRICES_DEFAULT_GPU_NANOS;
	} else {
		price.basis = PRICES_NONE;
	}
	return price;
}

/* Goes back in time: a row applies until its end, so more and more do. Of two that say as much about the host, the
 * one that ends first applies; of those, the first. */
int price_times_make(const struct prices *prices, const struct prices_host *host, struct price_times *ret_times)
{
	struct candidate best[ASSET_COUNT] = {{NULL, -1}, {NULL, -1}, {NULL, -1}, {NULL, -1}}, *items;
	struct price_times times = {0};
	size_t count, next = 0;
	int64_t until = INT64_MAX;
	int error = candidates_find(prices, host, &items, &count);

	if (error < 0)
		return error;
	times.items = calloc(count + 1, sizeof(*times.items));
	while (times.items) {
		for (; next < count && items[next].row->end_unix_ns == until; next++)
			if (items[next].rank >= best[items[next].row->asset].rank)
				best[items[next].row->asset] = items[next];
		times.items[times.count++] = price_from(prices, host, best, until);
		if (next == count)
			break;
		until = items[next].row->end_unix_ns;
	}
	free(items);
	*ret_times = times;
	return times.items ? 0 : -ENOMEM;
}

void price_times_free(struct price_times *times)
{
	free(times->items);
	*times = (struct price_times){0};
}

const struct price *price_at(const struct price_times *times, int64_t unix_ns)
{
	size_t found = 0, end = times->count;

	while (end - found > 1) {
		size_t middle = found + (end - found) / 2;

		if (times->items[middle].until_unix_ns > unix_ns)
			found = middle;
		else
			end = middle;
	}
	return &times->items[found];
}

static const char *const basis_names[PRICES_BASIS_COUNT] = {
	[PRICES_NODE] = "node",
	[PRICES_RATES] = "rates",
	[PRICES_DEFAULT] = "default",
	[PRICES_NONE] = "none",
};

const char *price_basis_name(enum prices_basis basis)
{
	return basis_names[basis];
}

int64_t price_times_end(const struct price_times *times)
{
	if (times->items[0].basis != PRICES_NONE)
		return INT64_MAX;
	return times->count > 1 ? times->items[1].until_unix_ns : INT64_MIN;
}

bool price_doubts_add(struct price_doubts *doubts, const struct price *price)
{
	doubts->default_count += price->basis == PRICES_DEFAULT;
	doubts->none_count += price->basis == PRICES_NONE;
	doubts->spot_count += price->may_be_spot;
	return price->basis == PRICES_DEFAULT || price->basis == PRICES_NONE || price->may_be_spot;
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

int64_t price_sum(const int64_t nanos[CHARGE_RESOURCE_COUNT])
{
	int64_t sum = 0;

	for (size_t i = 0; i < CHARGE_RESOURCE_COUNT; i++)
		if (__builtin_add_overflow(sum, nanos[i], &sum))
			return INT64_MAX;
	return sum;
}

void price_bill(const struct price *price, const struct price_size *size, int64_t ns,
		int64_t ret_nanos[CHARGE_RESOURCE_COUNT])
{
	int64_t mib = price_limit(size->memory_bytes, PRICE_MEMORY_BYTES_MAX) >> 20;
	int64_t cpus = price_limit(size->cpu_count, PRICE_CPUS_MAX);
	int64_t gpus = price_limit(size->gpu_count, PRICE_CPUS_MAX), whole, weight;

	if (price->basis != PRICES_NODE) {
		ret_nanos[CHARGE_CPU] = amount(price->cpu_nanos, cpus, ns, 1);
		ret_nanos[CHARGE_MEMORY] = amount(price->memory_nanos, mib, ns, 1024);
		ret_nanos[CHARGE_GPU] = amount(price->gpu_nanos, gpus, ns, 1);
		return;
	}
	cpus *= PRICES_CORE_WEIGHT * 1024;
	gpus *= PRICES_GPU_WEIGHT * 1024;
	weight = cpus + gpus + mib;
	whole = amount(price->node_nanos, 1, ns, 1);
	ret_nanos[CHARGE_CPU] = weight > 0 ? (int64_t)((wide)whole * cpus / weight) : whole;
	ret_nanos[CHARGE_GPU] = weight > 0 ? (int64_t)((wide)whole * gpus / weight) : 0;
	ret_nanos[CHARGE_MEMORY] = whole - ret_nanos[CHARGE_CPU] - ret_nanos[CHARGE_GPU];
}
