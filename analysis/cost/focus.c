/* A bill as FOCUS 1.2 in CSV. See bill.h. */
#include "analysis/cost/bill.h"

#include <csv.h>
#include <errno.h>
#include <jansson.h>
#include <string.h>
#include <time.h>

#include "analysis/query/units.h"
#include "common/text.h"

#define MICROS 1000000
#define MICRO_NANOS 1000
#define SECOND_NS INT64_C(1000000000)
#define HOUR_MS 3600000

struct charge {
	const char *description;
	int64_t micros;
};

struct host_day {
	const struct bill_row *end; /* the first one of another host or day */
	int64_t micros, observed_ms;
};

/* F(name): columns of the file. All that are mandatory in FOCUS 1.2, what identifies the resource, and
 * tags. */
#define FOCUS_COLUMNS(F) \
	F(BilledCost) \
	F(BillingAccountId) \
	F(BillingAccountName) \
	F(BillingCurrency) \
	F(BillingPeriodEnd) \
	F(BillingPeriodStart) \
	F(ChargeCategory) \
	F(ChargeClass) \
	F(ChargeDescription) \
	F(ChargeFrequency) \
	F(ChargePeriodEnd) \
	F(ChargePeriodStart) \
	F(ContractedCost) \
	F(EffectiveCost) \
	F(InvoiceIssuerName) \
	F(ListCost) \
	F(PricingQuantity) \
	F(PricingUnit) \
	F(ProviderName) \
	F(PublisherName) \
	F(ResourceId) \
	F(ResourceName) \
	F(ResourceType) \
	F(ServiceCategory) \
	F(ServiceName) \
	F(Tags)

enum focus_column {
#define F(name) FOCUS_##name,
	FOCUS_COLUMNS(F)
#undef F
		FOCUS_COLUMN_COUNT
};

static const char *const names[FOCUS_COLUMN_COUNT] = {
#define F(name) #name,
	FOCUS_COLUMNS(F)
#undef F
};

/* NULL is an empty field. */
static void fields_print(FILE *file, const char *const fields[FOCUS_COLUMN_COUNT])
{
	for (size_t i = 0; i < FOCUS_COLUMN_COUNT; i++) {
		if (i > 0)
			putc(',', file);
		if (fields[i])
			csv_fwrite(file, fields[i], strlen(fields[i]));
	}
	putc('\n', file);
}

static void time_text(int64_t unix_ns, char text[UNITS_SIZE])
{
	time_t seconds = unix_ns / SECOND_NS;
	struct tm utc;

	gmtime_r(&seconds, &utc);
	strftime(text, UNITS_SIZE, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

static void micros_text(int64_t micros, char text[UNITS_SIZE])
{
	snprintf(text, UNITS_SIZE, "%lld.%06lld", (long long)(micros / MICROS), (long long)(micros % MICROS));
}

/* The hours of the host that this charge is for: its share of the cost of that day. */
static void hours_text(const struct host_day *day, int64_t micros, char text[UNITS_SIZE])
{
	double hours = (double)day->observed_ms / HOUR_MS;

	snprintf(text, UNITS_SIZE, "%.6f", hours * (double)micros / (double)day->micros);
}

static void charge_print(FILE *file, const struct host_day *day, const struct charge *charge,
			 const char *const template[FOCUS_COLUMN_COUNT])
{
	const char *fields[FOCUS_COLUMN_COUNT];
	char amount[UNITS_SIZE], hours[UNITS_SIZE];

	memcpy(fields, template, sizeof(fields));
	micros_text(charge->micros, amount);
	hours_text(day, charge->micros, hours);
	fields[FOCUS_BilledCost] = fields[FOCUS_ContractedCost] = fields[FOCUS_EffectiveCost] = fields[FOCUS_ListCost] =
		amount;
	fields[FOCUS_PricingQuantity] = hours;
	fields[FOCUS_ChargeDescription] = charge->description;
	fields_print(file, fields);
}

/* Names come from processes; a file of costs is read by other programs, not by a terminal alone. */
static void tag_set(json_t *tags, const char *key, const char *value)
{
	char name[64], *safe = value ? text_escaped(value) : NULL;

	/* FOCUS wants a prefix for all tags that are not the user's own. */
	snprintf(name, sizeof(name), "tracer/%s", key);
	if (safe)
		json_object_set_new(tags, name, json_string(safe));
	free(safe);
}

/* Returns NULL if the charge has no tags, or out of memory. */
static char *tags_text(const struct bill_row *row, enum bill_key by)
{
	json_t *tags = json_object();
	char *text = NULL;

	if (by == BILL_BY_RUN) {
		tag_set(tags, "run", row->name);
		tag_set(tags, "run_id", units_id(row->id, false));
		tag_set(tags, "user", units_user(row->user_id));
		tag_set(tags, "centre", row->centre);
	} else if (by == BILL_BY_USER) {
		tag_set(tags, "user", units_user(row->id));
	} else if (by != BILL_BY_HOST) {
		tag_set(tags, bill_key_name(by), row->name);
	}
	if (json_object_size(tags) > 0)
		text = json_dumps(tags, JSON_COMPACT | JSON_ENSURE_ASCII);
	json_decref(tags);
	return text;
}

static void row_print(FILE *file, const struct bill_row *row, const struct host_day *day, enum bill_key by,
		      const char *template[FOCUS_COLUMN_COUNT])
{
	const struct charge work[] = {
		{"used by runs", row->used_nanos},
		{"requested by runs, not used", row->unused_nanos},
	};
	const struct charge rest[] = {
		{"the host's own services and login sessions", row->system_nanos},
		{"idle", row->idle_nanos},
	};
	char *tags = tags_text(row, by);

	template[FOCUS_Tags] = tags;
	for (size_t i = 0; i < sizeof(work) / sizeof(work[0]); i++)
		if (work[i].micros > 0)
			charge_print(file, day, &work[i], template);
	template[FOCUS_Tags] = NULL;
	for (size_t i = 0; i < sizeof(rest) / sizeof(rest[0]); i++)
		if (rest[i].micros > 0)
			charge_print(file, day, &rest[i], template);
	free(tags);
}

/* The charges of one host on one day, which follow each other. */
static struct host_day host_day_from(const struct bill_row *first)
{
	struct host_day day = {.end = first};

	for (; day.end && day.end->place.host == first->place.host &&
	       day.end->place.begin_unix_ns == first->place.begin_unix_ns;
	     day.end = day.end->hh.next) {
		day.micros += day.end->used_nanos + day.end->unused_nanos + day.end->system_nanos + day.end->idle_nanos;
		day.observed_ms += day.end->observed_ms;
	}
	return day;
}

static int host_day_print(FILE *file, const struct bill_row *first, const struct host_day *day, enum bill_key by,
			  const char *template[FOCUS_COLUMN_COUNT])
{
	const struct bill_place *place = &first->place;
	char begin[UNITS_SIZE], end[UNITS_SIZE], id[UNITS_SIZE], *safe = text_escaped(place->host->hostname);

	if (!safe)
		return -ENOMEM;
	time_text(place->begin_unix_ns, begin);
	time_text(place->end_unix_ns, end);
	template[FOCUS_ChargePeriodStart] = begin;
	template[FOCUS_ChargePeriodEnd] = end;
	snprintf(id, sizeof(id), "%s", units_id(place->host->id, false));
	template[FOCUS_ResourceId] = id;
	template[FOCUS_ResourceName] = safe;
	for (const struct bill_row *row = first; row != day->end; row = row->hh.next)
		row_print(file, row, day, by, template);
	free(safe);
	return 0;
}

int focus_write(FILE *file, struct bill *bill, const struct bill_request *request)
{
	char begin[UNITS_SIZE], end[UNITS_SIZE];
	const char *template[FOCUS_COLUMN_COUNT] = {
		/* An invoice names who charges for the hosts, which Tracer does not know: it gives its own name. */
		[FOCUS_BillingAccountId] = "tracer",  [FOCUS_BillingCurrency] = prices_currency(request->prices),
		[FOCUS_BillingPeriodStart] = begin,   [FOCUS_BillingPeriodEnd] = end,
		[FOCUS_ChargeCategory] = "Usage",     [FOCUS_ChargeFrequency] = "Usage-Based",
		[FOCUS_InvoiceIssuerName] = "Tracer", [FOCUS_PricingUnit] = "Hours",
		[FOCUS_ProviderName] = "Tracer",      [FOCUS_PublisherName] = "Tracer",
		[FOCUS_ResourceType] = "Host",        [FOCUS_ServiceCategory] = "Compute",
		[FOCUS_ServiceName] = "Hosts",
	};
	int error = bill_round(bill, MICRO_NANOS);
	struct host_day day;

	time_text(request->since_unix_ns, begin);
	time_text(request->until_unix_ns, end);
	fields_print(file, names);
	for (const struct bill_row *first = bill->rows; first && error == 0; first = day.end) {
		day = host_day_from(first);
		error = host_day_print(file, first, &day, request->by, template);
	}
	if (error == 0 && (fflush(file) != 0 || ferror(file)))
		error = -EIO;
	return error;
}
