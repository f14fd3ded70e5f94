/* Lists of cloud providers: what is taken, and that prices_load() reads it. The files are invented, in the columns that
 * the providers document. */
#include "analysis/cost/import.h"

#include <errno.h>
#include <string.h>

#include "analysis/cost/prices.h"
#include "tests/suite.h"

#define HEADER "AssetClass,InstanceType,Region,Lifecycle,MarketPriceHourly,Currency\n"

static char *text;
static struct tree_error error;
static struct import_counts counts;

static void end(void)
{
	free(text);
	text = NULL;
}

static int import(enum import_format format, const char *file)
{
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int result;

	memset(&error, 0, sizeof(error));
	result = import_prices(format, file, out, &counts, &error);
	fclose(out);
	return result;
}

static const struct {
	enum import_format format;
	const char *file, *list;
	struct import_counts counts;
} cases[] = {
	{IMPORT_AWS_CSV,
	 IMPORT_DIRECTORY "/aws.csv",
	 HEADER "node,\"m5.xlarge\",\"us-east-1\",,0.192000000,\"USD\"\n"
		"node,\"m5.metal\",\"us-east-1\",,4.608000000,\"USD\"\n"
		"node,\"m5.xlarge\",\"eu-central-1\",,0.230000000,\"USD\"\n",
	 {.taken = 3, .left_out = 9, .repeated = 1}},
	{IMPORT_AWS_JSON,
	 IMPORT_DIRECTORY "/aws.json",
	 HEADER "node,\"m5.xlarge\",\"us-east-1\",,0.192000000,\"USD\"\n"
		"node,\"c5.large\",\"eu-central-1\",,0.097000000,\"USD\"\n",
	 {.taken = 2, .left_out = 5}},
	{IMPORT_AZURE,
	 IMPORT_DIRECTORY "/azure.json",
	 HEADER "node,\"Standard_D2s_v3\",\"eastus\",,0.096000000,\"USD\"\n"
		"node,\"Standard_D2s_v3\",\"eastus\",spot,0.019200000,\"USD\"\n"
		"node,\"Standard_D2s_v3\",\"westeurope\",,0.120000000,\"USD\"\n",
	 {.taken = 3, .left_out = 4}},
	{IMPORT_FOCUS,
	 IMPORT_DIRECTORY "/focus.csv",
	 HEADER "node,\"m5.xlarge\",\"eu-central-1\",,0.160000000,\"EUR\"\n"
		"node,\"m5.xlarge\",\"eu-central-1\",spot,0.050000000,\"EUR\"\n",
	 {.taken = 2, .left_out = 7, .repeated = 2}},
	{IMPORT_GCP,
	 IMPORT_DIRECTORY "/gcp.json",
	 HEADER "cpu,\"n2-standard-4\",\"us-central1\",,0.030000000,\"USD\"\n"
		"memory,\"n2-standard-4\",\"us-central1\",,0.004237000,\"USD\"\n"
		"cpu,\"n2-standard-4\",\"us-central1\",spot,0.007580000,\"USD\"\n"
		"memory,\"c2-standard-8\",\"europe-west3\",,0.005872000,\"USD\"\n",
	 {.taken = 4, .left_out = 7, .repeated = 1}},
};

TEST_EACH(a_list_is_taken, cases)
{
	struct prices *prices;
	int result = import(cases[_i].format, cases[_i].file);

	ck_assert_msg(result == 0, "%d: %s", result, error.reason);
	ck_assert_str_eq(text, cases[_i].list);
	ck_assert_uint_eq(counts.taken, cases[_i].counts.taken);
	ck_assert_uint_eq(counts.left_out, cases[_i].counts.left_out);
	ck_assert_uint_eq(counts.repeated, cases[_i].counts.repeated);
	ck_assert_msg(prices_load(suite_file(NULL, "list", text), false, &prices, &error) == 0, "%s", error.reason);
	ck_assert_uint_eq(prices_count(prices), counts.taken);
	prices_free(prices);
}

/* Another file, or a damaged one, is refused. */
static const struct {
	enum import_format format;
	const char *content, *reason;
} refused[] = {
	{IMPORT_AWS_CSV, "a\nb\nc\nd\ne\nSKU,TermType\n", "no column Unit"},
	{IMPORT_AWS_CSV, "AssetClass\n", "no header line"},
	{IMPORT_AWS_JSON, "{\"products\": {}}", "no terms of OnDemand"},
	{IMPORT_AWS_JSON, "{\"products\": ", "unexpected token"},
	{IMPORT_AWS_JSON, "[1]", "has no products"},
	{IMPORT_AZURE, "{\"Items\": {}}", "has no Items"},
	{IMPORT_AZURE, "", "expected near end of file"},
	{IMPORT_FOCUS, "BilledCost\n1\n", "no column ChargeCategory"},
	/* Google Cloud's FOCUS view has prices of cores and memory, and no machine types. */
	{IMPORT_FOCUS,
	 "ChargeCategory,ServiceCategory,PricingUnit,PricingCategory,RegionId,BillingCurrency,ChargePeriodStart,"
	 "ContractedUnitPrice\nusage,,hour,standard,us-central1,USD,2026-11-01 00:00:00 UTC,0.03\n",
	 "no column SkuPriceDetails"},
	{IMPORT_GCP, "{\"cost\": 1}\n", "has no price"},
	{IMPORT_GCP, "cost,price\n", "expected"},
};

TEST_EACH(another_file_is_refused, refused)
{
	const char *path = suite_file(NULL, "list", refused[_i].content);

	ck_assert_int_eq(import(refused[_i].format, path), -EINVAL);
	ck_assert_msg(strstr(error.reason, refused[_i].reason), "%s", error.reason);
	ck_assert_str_eq(error.file, path);
}

/* Nothing in a file of the right form makes a wrong row. */
TEST(hostile_values_are_left_out_or_quoted)
{
	const char list[] =
		"{\"Items\": [1, null, \"x\", {}, {\"armSkuName\": 3}, {\"serviceName\": \"Virtual Machines\","
		"\"type\": \"Consumption\", \"unitOfMeasure\": \"1 Hour\", \"armSkuName\": \"a\\\"\\n,b\","
		"\"armRegionName\": \"x\", \"currencyCode\": \"USD\", \"retailPrice\": 1},"
		"{\"serviceName\": \"Virtual Machines\", \"type\": \"Consumption\", \"unitOfMeasure\": \"1 Hour\","
		"\"armSkuName\": \"b\", \"armRegionName\": \"x\", \"retailPrice\": 1e300}]}";

	ck_assert_int_eq(import(IMPORT_AZURE, suite_file(NULL, "list", list)), 0);
	ck_assert_str_eq(text, HEADER "node,\"a\"\"\n,b\",\"x\",,1.000000000,\"USD\"\n");
	ck_assert_uint_eq(counts.left_out, 6);
}

TEST(a_missing_file_is_an_error)
{
	ck_assert_int_eq(import(IMPORT_GCP, "/nonexistent"), -ENOENT);
	free(text);
	ck_assert_int_eq(import(IMPORT_AZURE, "/nonexistent"), -ENOENT);
	ck_assert_str_eq(error.reason, "No such file or directory");
}

int main(void)
{
	return suite_run("import", NULL, end);
}
