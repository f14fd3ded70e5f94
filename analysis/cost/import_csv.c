/* Price lists in CSV: AWS Price List Bulk API, and bills in FOCUS 1.2. See import.h. */
#include <string.h>

#include "analysis/cost/csv_file.h"
#include "analysis/cost/import_list.h"
#include "analysis/cost/prices.h"

/* ---- AWS ---------------------------------------------------------------------------- */

enum aws_column { TERM, UNIT, PRICE, CURRENCY, FAMILY, TYPE, REGION, TENANCY, SYSTEM, SOFTWARE, CAPACITY, AWS_COUNT };

static const char *const aws_names[AWS_COUNT] = {
	[TERM] = "TermType",           [UNIT] = "Unit",
	[PRICE] = "PricePerUnit",      [CURRENCY] = "Currency",
	[FAMILY] = "Product Family",   [TYPE] = "Instance Type",
	[REGION] = "Region Code",      [TENANCY] = "Tenancy",
	[SYSTEM] = "Operating System", [SOFTWARE] = "Pre Installed S/W",
	[CAPACITY] = "CapacityStatus",
};
/* Five lines say what the file is. */
static const struct csv_columns aws_columns = {aws_names, AWS_COUNT, AWS_COUNT, 5};

/* A column and the text that it has in rows that are taken. */
static const struct {
	enum aws_column column;
	const char *text;
} aws_taken[] = {{TERM, "OnDemand"}, {UNIT, "Hrs"},    {TENANCY, "Shared"},
		 {SYSTEM, "Linux"},  {SOFTWARE, "NA"}, {CAPACITY, "Used"}};

static bool aws_is_taken(const struct csv_row *row)
{
	for (size_t i = 0; i < sizeof(aws_taken) / sizeof(aws_taken[0]); i++)
		if (strcmp(row->fields[aws_taken[i].column], aws_taken[i].text) != 0)
			return false;
	return strncmp(row->fields[FAMILY], "Compute Instance", strlen("Compute Instance")) == 0;
}

static int aws_take(void *context, const struct csv_row *row, struct tree_error *error)
{
	struct import_price price = {
		.type = row->fields[TYPE],
		.region = row->fields[REGION],
		.currency = row->fields[CURRENCY],
		.since = "",
	};

	(void)error;
	if (!aws_is_taken(row) || prices_parse_amount(row->fields[PRICE], &price.nanos) < 0) {
		import_leave_out(context);
		return 0;
	}
	return import_list_add(context, &price);
}

int import_aws_csv(const char *path, struct import_list *list, struct tree_error *ret_error)
{
	return csv_read(path, &aws_columns, aws_take, list, ret_error);
}

/* ---- FOCUS -------------------------------------------------------------------------- */

enum focus_column {
	CATEGORY,
	SERVICE,
	PRICING_UNIT,
	PRICING,
	DETAILS,
	REGION_ID,
	BILLING,
	BEGIN,
	UNIT_PRICE,
	FOCUS_COUNT
};

static const char *const focus_names[FOCUS_COUNT] = {
	[CATEGORY] = "ChargeCategory", [SERVICE] = "ServiceCategory", [PRICING_UNIT] = "PricingUnit",
	[PRICING] = "PricingCategory", [DETAILS] = "SkuPriceDetails", [REGION_ID] = "RegionId",
	[BILLING] = "BillingCurrency", [BEGIN] = "ChargePeriodStart", [UNIT_PRICE] = "ContractedUnitPrice",
};
static const struct csv_columns focus_columns = {focus_names, FOCUS_COUNT, FOCUS_COUNT, 0};

/* Of Linux machines, or machines whose system the bill does not say. */
static bool focus_is_taken(const struct csv_row *row)
{
	return strcmp(row->fields[CATEGORY], "Usage") == 0 && strcmp(row->fields[SERVICE], "Compute") == 0 &&
	       (strcmp(row->fields[PRICING_UNIT], "Hours") == 0 || strcmp(row->fields[PRICING_UNIT], "Hour") == 0) &&
	       (strcmp(row->fields[PRICING], "Standard") == 0 || strcmp(row->fields[PRICING], "Dynamic") == 0);
}

static int focus_take(void *context, const struct csv_row *row, struct tree_error *error)
{
	json_t *details = json_loads(row->fields[DETAILS], 0, NULL);
	const char *type = json_string_value(json_object_get(details, "InstanceType"));
	const char *system = json_string_value(json_object_get(details, "OperatingSystem"));
	struct import_price price = {
		.type = type ? type : "",
		.region = row->fields[REGION_ID],
		.is_spot = strcmp(row->fields[PRICING], "Dynamic") == 0,
		.currency = row->fields[BILLING],
		.since = row->fields[BEGIN],
	};
	int result = 0;

	(void)error;
	if (focus_is_taken(row) && (!system || strcmp(system, "Linux") == 0) &&
	    prices_parse_amount(row->fields[UNIT_PRICE], &price.nanos) == 0)
		result = import_list_add(context, &price);
	else
		import_leave_out(context);
	json_decref(details);
	return result;
}

int import_focus(const char *path, struct import_list *list, struct tree_error *ret_error)
{
	return csv_read(path, &focus_columns, focus_take, list, ret_error);
}
