/* A bill as FOCUS 1.2 in CSV. See cost_focus.h. */
#include "cli/cost_focus.h"

#include <csv.h>
#include <errno.h>
#include <string.h>
#include <time.h>

#include "cli/units.h"
#include "common/text.h"

#define MICROS 1000000
#define MICRO_NANOS 1000
#define SECOND_NS INT64_C(1000000000)
#define HOUR_MS 3600000

struct charge {
	const char *description;
	int64_t micros;
};

/* F(name): columns of the file. All that are mandatory in FOCUS 1.2, and what identifies the resource. */
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
	F(ServiceName)

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

/* The hours of the host that this charge is for: its share of the cost of all that were watched. */
static void hours_text(const struct bill_row *row, int64_t micros, int64_t total_micros, char text[UNITS_SIZE])
{
	double hours = (double)row->observed_ms / HOUR_MS;

	snprintf(text, UNITS_SIZE, "%.6f", hours * (double)micros / (double)total_micros);
}

static void charge_print(FILE *file, const struct bill_row *row, const struct charge *charge, int64_t total_micros,
			 const char *const template[FOCUS_COLUMN_COUNT])
{
	const char *fields[FOCUS_COLUMN_COUNT];
	char amount[UNITS_SIZE], hours[UNITS_SIZE];

	memcpy(fields, template, sizeof(fields));
	micros_text(charge->micros, amount);
	hours_text(row, charge->micros, total_micros, hours);
	fields[FOCUS_BilledCost] = fields[FOCUS_ContractedCost] = fields[FOCUS_EffectiveCost] = fields[FOCUS_ListCost] =
		amount;
	fields[FOCUS_PricingQuantity] = hours;
	fields[FOCUS_ChargeDescription] = charge->description;
	fields_print(file, fields);
}

static int host_print(FILE *file, const struct bill_row *row, const char *template[FOCUS_COLUMN_COUNT])
{
	const struct charge charges[] = {
		{"used by runs", row->used_nanos},
		{"requested by runs, not used", row->unused_nanos},
		{"the host's own services and login sessions", row->system_nanos},
		{"idle", row->idle_nanos},
	};
	size_t size = 4 * strlen(row->name) + 1;
	char *safe = malloc(size);
	int64_t total = 0;

	if (!safe)
		return -ENOMEM;
	text_escape(row->name, strlen(row->name), safe, size);
	template[FOCUS_ResourceId] = units_id(row->id, false);
	template[FOCUS_ResourceName] = safe;
	for (size_t i = 0; i < sizeof(charges) / sizeof(charges[0]); i++)
		total += charges[i].micros;
	for (size_t i = 0; i < sizeof(charges) / sizeof(charges[0]); i++)
		if (charges[i].micros > 0)
			charge_print(file, row, &charges[i], total, template);
	free(safe);
	return 0;
}

int cost_focus_print(FILE *file, struct bill *bill, const struct bill_request *request)
{
	char begin[UNITS_SIZE], end[UNITS_SIZE];
	const char *template[FOCUS_COLUMN_COUNT] = {
		/* An invoice names who charges for the hosts, which Tracer does not know: it gives its own name. */
		[FOCUS_BillingAccountId] = "tracer",  [FOCUS_BillingCurrency] = prices_currency(request->prices),
		[FOCUS_BillingPeriodStart] = begin,   [FOCUS_BillingPeriodEnd] = end,
		[FOCUS_ChargeCategory] = "Usage",     [FOCUS_ChargeFrequency] = "Usage-Based",
		[FOCUS_ChargePeriodStart] = begin,    [FOCUS_ChargePeriodEnd] = end,
		[FOCUS_InvoiceIssuerName] = "Tracer", [FOCUS_PricingUnit] = "Hours",
		[FOCUS_ProviderName] = "Tracer",      [FOCUS_PublisherName] = "Tracer",
		[FOCUS_ResourceType] = "Host",        [FOCUS_ServiceCategory] = "Compute",
		[FOCUS_ServiceName] = "Hosts",
	};
	int error = bill_round(bill, MICRO_NANOS);

	time_text(request->since_unix_ns, begin);
	time_text(request->until_unix_ns, end);
	fields_print(file, names);
	for (const struct bill_row *row = bill->rows; row && error == 0; row = row->hh.next)
		error = host_print(file, row, template);
	if (error == 0 && (fflush(file) != 0 || ferror(file)))
		error = -EIO;
	return error;
}
