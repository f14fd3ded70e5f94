/* Price lists in JSON: AWS Price List Bulk API, Azure Retail Prices API, and bills of Google Cloud. See import.h. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/cost/import_list.h"
#include "analysis/cost/prices.h"
#include "common/progress.h"

#define MANY_LINES 10000 /* fewer need no progress */

/* Returns NULL with `*ret_result` set. */
static json_t *load(const char *path, struct tree_error *ret_error, int *ret_result)
{
	json_error_t reason;
	struct stat status;
	json_t *root;

	if (stat(path, &status) < 0) {
		*ret_result = -errno;
		tree_error_set(ret_error, path, 0, "%s", strerror(errno));
		return NULL;
	}
	if (status.st_size > IMPORT_JSON_BYTES_MAX) {
		*ret_result = tree_error_set(ret_error, path, 0, "larger than 1 GiB: use a list of one region, or CSV");
		return NULL;
	}
	root = json_load_file(path, 0, &reason);
	if (!root)
		*ret_result = tree_error_set(ret_error, path, (unsigned)(reason.line > 0 ? reason.line : 0), "%s",
					     reason.text);
	return root;
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static bool is(const json_t *object, const char *key, const char *text)
{
	return strcmp(text_of(object, key), text) == 0;
}

/* ---- AWS ---------------------------------------------------------------------------- */

static bool aws_is_taken(const json_t *product)
{
	static const char family[] = "Compute Instance";
	const json_t *attributes = json_object_get(product, "attributes");

	return strncmp(text_of(product, "productFamily"), family, strlen(family)) == 0 &&
	       is(attributes, "tenancy", "Shared") && is(attributes, "operatingSystem", "Linux") &&
	       is(attributes, "preInstalledSw", "NA") && is(attributes, "capacitystatus", "Used");
}

/* Finds the price an hour among the dimensions of a product's terms; 0 if there is none. */
static void aws_price(const json_t *terms, struct import_price *price)
{
	json_t *term, *dimension, *amount;
	const char *key, *rate, *currency;

	json_object_foreach ((json_t *)terms, key, term)
		json_object_foreach (json_object_get(term, "priceDimensions"), rate, dimension)
			json_object_foreach (json_object_get(dimension, "pricePerUnit"), currency, amount)
				if (is(dimension, "unit", "Hrs") && json_is_string(amount) &&
				    prices_parse_amount(json_string_value(amount), &price->nanos) == 0)
					price->currency = currency;
}

static int aws_product_add(struct import_list *list, const json_t *product, const json_t *terms)
{
	const json_t *attributes = json_object_get(product, "attributes");
	struct import_price price = {
		.type = text_of(attributes, "instanceType"),
		.region = text_of(attributes, "regionCode"),
		.currency = "USD",
		.since = "",
	};

	if (aws_is_taken(product))
		aws_price(terms, &price);
	return import_list_add(list, &price);
}

int import_aws_json(const char *path, struct import_list *list, struct tree_error *ret_error)
{
	int result = 0;
	json_t *root = load(path, ret_error, &result), *product;
	json_t *products = json_object_get(root, "products");
	const json_t *terms = json_object_get(json_object_get(root, "terms"), "OnDemand");
	const char *sku;

	if (!root)
		return result;
	if (!json_is_object(products) || !json_is_object(terms))
		result = tree_error_set(ret_error, path, 0, "has no products, or no terms of OnDemand");
	json_object_foreach (products, sku, product)
		if (result == 0)
			result = aws_product_add(list, product, json_object_get(terms, sku));
	json_decref(root);
	return result;
}

/* ---- Azure -------------------------------------------------------------------------- */

/* Linux machines: Windows is in the name of a product, spot and low priority in that of its SKU. */
static bool azure_is_taken(const json_t *item)
{
	return is(item, "serviceName", "Virtual Machines") && is(item, "type", "Consumption") &&
	       is(item, "unitOfMeasure", "1 Hour") && !strstr(text_of(item, "productName"), "Windows") &&
	       !strstr(text_of(item, "productName"), "Cloud Services") &&
	       !strstr(text_of(item, "productName"), "Dedicated Host") &&
	       !strstr(text_of(item, "skuName"), "Low Priority");
}

static int azure_item_add(struct import_list *list, const json_t *item)
{
	struct import_price price = {
		.type = text_of(item, "armSkuName"),
		.region = text_of(item, "armRegionName"),
		.is_spot = strstr(text_of(item, "skuName"), "Spot") != NULL,
		.currency = text_of(item, "currencyCode"),
		.since = "",
	};
	char amount[64];

	snprintf(amount, sizeof(amount), "%.9f", json_number_value(json_object_get(item, "retailPrice")));
	if (azure_is_taken(item) && prices_parse_amount(amount, &price.nanos) < 0)
		price.nanos = 0;
	return import_list_add(list, &price);
}

int import_azure(const char *path, struct import_list *list, struct tree_error *ret_error)
{
	int result = 0;
	json_t *root = load(path, ret_error, &result), *item;
	json_t *items = json_object_get(root, "Items");
	size_t index;

	if (!root)
		return result;
	if (!json_is_array(items))
		result = tree_error_set(ret_error, path, 0, "has no Items");
	json_array_foreach (items, index, item)
		if (result == 0)
			result = azure_item_add(list, item);
	json_decref(root);
	return result;
}

/* ---- Google Cloud ------------------------------------------------------------------- */

/* A price as BigQuery writes it: a string if it is exact, else a number. Returns 0, or -EINVAL. */
static int gcp_amount(const json_t *value, int64_t *ret_nanos)
{
	char text[64] = "";

	if (json_is_string(value))
		return prices_parse_amount(json_string_value(value), ret_nanos);
	if (json_is_number(value))
		snprintf(text, sizeof(text), "%.9f", json_number_value(value));
	return prices_parse_amount(text, ret_nanos);
}

static const char *gcp_machine(const json_t *row)
{
	json_t *label;
	size_t index;

	json_array_foreach (json_object_get(row, "system_labels"), index, label)
		if (is(label, "key", "compute.googleapis.com/machine_spec"))
			return text_of(label, "value");
	return "";
}

/* Shared cores are priced by the part of them that a machine has; extended memory is priced beside the rest. */
static bool gcp_is_taken(const json_t *row, const char *sku, const char *machine)
{
	static const char *const shared[] = {"e2-micro", "e2-small", "e2-medium"};
	int64_t quantity;

	for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++)
		if (strcmp(machine, shared[i]) == 0)
			return false;
	return is(json_object_get(row, "service"), "description", "Compute Engine") &&
	       is(row, "cost_type", "regular") && !strstr(sku, "Sole Tenancy") && !strstr(sku, "Extended") &&
	       gcp_amount(json_object_get(json_object_get(row, "price"), "pricing_unit_quantity"), &quantity) == 0 &&
	       quantity == 1000000000;
}

static int gcp_row_add(struct import_list *list, const json_t *row)
{
	const char *sku = text_of(json_object_get(row, "sku"), "description");
	const json_t *rate = json_object_get(row, "price");
	bool is_core = strstr(sku, " Core running in ") && is(rate, "unit", "hour"),
	     is_memory = strstr(sku, " Ram running in ") && is(rate, "unit", "gibibyte hour");
	struct import_price price = {
		.asset = is_core ? IMPORT_CPU : IMPORT_MEMORY,
		.type = gcp_machine(row),
		.region = text_of(json_object_get(row, "location"), "region"),
		.is_spot = strstr(sku, "Preemptible ") != NULL,
		.currency = text_of(row, "currency"),
		.since = text_of(row, "usage_start_time"),
	};

	if (!(is_core || is_memory) || !gcp_is_taken(row, sku, price.type) ||
	    gcp_amount(json_object_get(rate, "effective_price"), &price.nanos) < 0)
		price.nanos = 0;
	return import_list_add(list, &price);
}

int import_gcp(const char *path, struct import_list *list, struct tree_error *ret_error)
{
	FILE *file = fopen(path, "re");
	unsigned number = 0;
	char *line = NULL;
	size_t size = 0;
	int result = 0;

	if (!file) {
		result = -errno;
		tree_error_set(ret_error, path, 0, "%s", strerror(-result));
		return result;
	}
	while (result == 0 && getline(&line, &size, file) > 0) {
		json_error_t reason;
		json_t *row = json_loads(line, 0, &reason);

		if (++number >= MANY_LINES)
			progress_show("tracer: %u lines read", number);
		if (!json_is_object(json_object_get(row, "price")) || !json_is_object(json_object_get(row, "sku")))
			result = tree_error_set(ret_error, path, number, "%s",
						row ? "has no price or no sku" : reason.text);
		else
			result = gcp_row_add(list, row);
		json_decref(row);
	}
	progress_hide();
	free(line);
	fclose(file);
	return result;
}
