/* Lists of prices, and the price of a host. */
#include "analysis/cost/prices.h"

#include <errno.h>
#include <string.h>

#include "tests/suite.h"

#define HEADER "AssetClass,MarketPriceHourly,EndTimestamp,InstanceID,InstanceIDField,InstanceType,Region,Lifecycle\n"
#define OPENCOST \
	"EndTimestamp,InstanceID,Region,AssetClass,InstanceIDField,InstanceType,MarketPriceHourly,Version\n" \
	",i-0abc,us-east-1,node,spec.providerID,m5.xlarge,0.192,v1\n"
#define HOUR_NS INT64_C(3600000000000)
#define JAN_1_NS INT64_C(1767225600000000000) /* 2026-01-01T00:00:00Z */

static const char *path;
static struct prices *prices;
static struct tree_error error;
static struct price_times times;

static void end(void)
{
	price_times_free(&times);
	prices_free(prices);
	prices = NULL;
}

static int load(const char *text)
{
	path = suite_file(NULL, "prices.csv", text);
	memset(&error, 0, sizeof(error));
	return prices_load(path, false, &prices, &error);
}

static struct price price_of(const struct prices_host *host, int64_t unix_ns)
{
	price_times_free(&times);
	ck_assert_int_eq(price_times_make(prices, host, &times), 0);
	return *price_at(&times, unix_ns);
}

static const struct prices_host ec2 = {
	.hostname = "node7",
	.cluster = "north",
	.instance_id = "i-0abc",
	.instance_type = "m5.xlarge",
	.region = "us-east-1",
	.lifecycle = "spot",
};
static const struct prices_host unknown = {.hostname = "bench"};

/* Which rows apply to the host: the price of a node, or of a core and a GiB, in thousandths. */
static const struct {
	const char *text;
	const struct prices_host *host;
	enum prices_basis basis;
	int node, cpu, memory;
} cases[] = {
	{OPENCOST, &ec2, PRICES_NODE, 192, 0, 0},
	{OPENCOST, &unknown, PRICES_DEFAULT, 0, 0, 0},
	{HEADER "node,0.1\nnode,0.2,,,,m5.xlarge\n", &ec2, PRICES_NODE, 200, 0, 0},
	{HEADER "node,0.2,,,,m5.xlarge\nnode,0.1\n", &unknown, PRICES_NODE, 100, 0, 0},
	{HEADER "node,0.1,,,,m5.*\nnode,0.2,,,,m6.*\n", &ec2, PRICES_NODE, 100, 0, 0},
	{HEADER "node,0.1,,,,m5.xlarge\nnode,0.2,,,,m5.xlarge,us-east-1\n", &ec2, PRICES_NODE, 200, 0, 0},
	{HEADER "node,0.1,,,,m5.xlarge,us-east-1\nnode,0.2,,,,m5.xlarge,us-east-2\n", &ec2, PRICES_NODE, 100, 0, 0},
	{HEADER "node,0.1,,,,m5.xlarge,,spot\nnode,0.2,,,,m5.xlarge,,on-demand\n", &ec2, PRICES_NODE, 100, 0, 0},
	{HEADER "node,0.1,,,,m5.xlarge,us-east-1,spot\nnode,0.2,,i-0abc\n", &ec2, PRICES_NODE, 200, 0, 0},
	{HEADER "node,0.1,,aws:///us-east-1a/i-0abc,spec.providerID\n", &ec2, PRICES_NODE, 100, 0, 0},
	{HEADER "node,0.1,,node*,hostname\n", &ec2, PRICES_NODE, 100, 0, 0},
	{HEADER "node,0.1,,node*,hostname\n", &unknown, PRICES_DEFAULT, 0, 0, 0},
	{HEADER "node,0.1,,north,cluster\nnode,0.2,,south,cluster\n", &ec2, PRICES_NODE, 100, 0, 0},
	{HEADER "cpu,0.03\nmemory,0.004\n", &unknown, PRICES_RATES, 0, 30, 4},
	{HEADER "CPU,0.03\nRAM,0.004\npv,9\n", &unknown, PRICES_RATES, 0, 30, 4},
	{HEADER "cpu,0.03\n", &unknown, PRICES_RATES, 0, 30, 0},
	{HEADER "cpu,0.03\nnode,0.2,,,,m5.xlarge\n", &ec2, PRICES_NODE, 200, 0, 0},
	{HEADER "cpu,0.03,,,,m5.xlarge\nnode,0.2\n", &ec2, PRICES_RATES, 0, 30, 0},
	{"\xef\xbb\xbf" HEADER "node,0.1\r\n", &ec2, PRICES_NODE, 100, 0, 0},
	{HEADER, &ec2, PRICES_DEFAULT, 0, 0, 0},
};

TEST_EACH(price_is, cases)
{
	struct price price;

	ck_assert_msg(load(cases[_i].text) == 0, "%s: %s", cases[_i].text, error.reason);
	price = price_of(cases[_i].host, JAN_1_NS);
	ck_assert_msg(price.basis == cases[_i].basis, "%s: basis %d", cases[_i].text, price.basis);
	if (price.basis == PRICES_DEFAULT)
		return;
	ck_assert_int_eq(price.node_nanos, cases[_i].node * INT64_C(1000000));
	ck_assert_int_eq(price.cpu_nanos, cases[_i].cpu * INT64_C(1000000));
	ck_assert_int_eq(price.memory_nanos, cases[_i].memory * INT64_C(1000000));
}

/* Files with an error: its line, and part of the reason. */
static const struct {
	const char *text;
	unsigned line;
	const char *reason;
} refused[] = {
	{"", 0, "no header line"},
	{"Price\n1\n", 1, "no column AssetClass"},
	{"AssetClass\nnode\n", 1, "no column MarketPriceHourly"},
	{HEADER "disk,1\n", 2, "AssetClass: expected node, cpu, memory or gpu, not 'disk'"},
	{HEADER "node,1\n\nnode,-1\n", 4, "MarketPriceHourly: expected an amount such as 0.096, not '-1'"},
	{HEADER "node,\n", 2, "MarketPriceHourly"},
	{HEADER "node,1e3\n", 2, "MarketPriceHourly"},
	{HEADER "node,1000000\n", 2, "MarketPriceHourly"},
	{HEADER "node,1,tomorrow\n", 2, "EndTimestamp: expected a date"},
	{HEADER "node,1,,x,spec.thing\n", 2, "InstanceIDField: expected instance_id, hostname or cluster"},
	{HEADER "node,1,,\"x\n", 2, "inside a quoted field"},
	{HEADER "node,1,,\"x\"y\n", 2, "a quoted field does not end"},
	{"AssetClass,MarketPriceHourly,Currency\nnode,1,EUR\nnode,1,USD\n", 3, "earlier rows have EUR"},
	{"AssetClass,MarketPriceHourly,Currency\nnode,1,dollars\n", 2, "three letters"},
};

TEST_EACH(error_is, refused)
{
	ck_assert_int_eq(load(refused[_i].text), -EINVAL);
	ck_assert_str_eq(error.file, path);
	ck_assert_uint_eq(error.line, refused[_i].line);
	ck_assert_msg(strstr(error.reason, refused[_i].reason), "%s: %s", refused[_i].text, error.reason);
}

TEST(a_price_ends)
{
	struct price price;

	ck_assert_int_eq(load(HEADER "node,0.3,,,,m5.xlarge\nnode,0.2,2026-02-01,,,m5.xlarge\n"
				     "node,0.1,2026-01-01T00:00:00Z,,,m5.xlarge\n"),
			 0);
	price = price_of(&ec2, JAN_1_NS - 1);
	ck_assert_int_eq(price.node_nanos, 100000000);
	ck_assert_int_eq(price.until_unix_ns, JAN_1_NS);
	price = price_of(&ec2, JAN_1_NS);
	ck_assert_int_eq(price.node_nanos, 200000000);
	ck_assert_int_eq(price.until_unix_ns, JAN_1_NS + 31 * 24 * HOUR_NS);
	price = price_of(&ec2, price.until_unix_ns);
	ck_assert_int_eq(price.node_nanos, 300000000);
	ck_assert_int_eq(price.until_unix_ns, INT64_MAX);
}

/* An instance of a cloud, priced by its type alone: a price on demand may not be that of spot. */
static const struct {
	const char *lifecycle, *list;
	bool is_cloud, may_be_spot;
} instances[] = {
	{NULL, HEADER "node,1,,,,m5.xlarge\n", true, true},
	{"spot", HEADER "cpu,1,,,,m5.*\n", true, true},
	{"on-demand", HEADER "node,1,,,,m5.xlarge\n", true, false},
	{"spot", HEADER "node,1,,,,m5.xlarge,,spot\n", true, false},
	{NULL, HEADER "node,1,,i-0abc\n", true, false},
	{NULL, HEADER "node,1\n", true, false},
	{NULL, HEADER "node,1,,,,m5.xlarge\n", false, false},
};

TEST_EACH(a_price_may_be_of_spot, instances)
{
	struct prices_host host = ec2;

	host.lifecycle = instances[_i].lifecycle;
	host.is_cloud = instances[_i].is_cloud;
	ck_assert_int_eq(load(instances[_i].list), 0);
	ck_assert_int_eq(price_of(&host, JAN_1_NS).may_be_spot, instances[_i].may_be_spot);
}

static const struct {
	const char *text;
	int error;
	int64_t nanos;
} amounts[] = {
	/* clang-format off */
	{"0", 0, 0}, {"1", 0, 1000000000}, {".5", 0, 500000000}, {"0.031611", 0, 31611000}, {"0.0000000019", 0, 1},
	{"100000", 0, INT64_C(100000000000000)}, {"100000.000000001", -ERANGE, 0}, {"1.2.3", -EINVAL, 0}, {"", -EINVAL, 0},
	{".", -EINVAL, 0},
	/* clang-format on */
};

TEST_EACH(amounts_are_exact, amounts)
{
	int64_t nanos = 0;

	ck_assert_int_eq(prices_parse_amount(amounts[_i].text, &nanos), amounts[_i].error);
	ck_assert_int_eq(nanos, amounts[_i].nanos);
}

TEST(a_node_is_divided_by_weights)
{
	struct price node = {.basis = PRICES_NODE, .node_nanos = 190000000};
	struct price rates = {
		.basis = PRICES_RATES, .cpu_nanos = 30000000, .memory_nanos = 4000000, .gpu_nanos = 900000000};
	int64_t nanos[CHARGE_RESOURCE_COUNT];

	/* 2 cores weigh 18, 1 GiB weighs 1 */
	price_bill(&node, &(const struct price_size){2, INT64_C(1) << 30, 0}, HOUR_NS, nanos);
	ck_assert_int_eq(nanos[CHARGE_CPU], 180000000);
	ck_assert_int_eq(nanos[CHARGE_MEMORY], 10000000);
	ck_assert_int_eq(nanos[CHARGE_GPU], 0);
	price_bill(&rates, &(const struct price_size){2, INT64_C(3) << 29, 1}, HOUR_NS / 2, nanos);
	ck_assert_int_eq(nanos[CHARGE_CPU], 30000000);
	ck_assert_int_eq(nanos[CHARGE_MEMORY], 3000000);
	ck_assert_int_eq(nanos[CHARGE_GPU], 450000000);
	price_bill(&node, &(const struct price_size){0}, HOUR_NS, nanos);
	ck_assert_int_eq(price_sum(nanos), 190000000);
	/* the example of AWS: 8 GPUs weigh 720, 64 cores 576, 488 GiB 488 */
	node.node_nanos = INT64_C(10000000000);
	price_bill(&node, &(const struct price_size){64, INT64_C(488) << 30, 8}, HOUR_NS, nanos);
	ck_assert_int_eq(nanos[CHARGE_GPU] / 1000, 4035874);
	ck_assert_int_eq(nanos[CHARGE_CPU] / 1000, 3228699);
	ck_assert_int_eq(price_sum(nanos), node.node_nanos);
	/* a large host for a year at the highest price */
	node.node_nanos = INT64_C(100000000000000);
	price_bill(&node, &(const struct price_size){1024, INT64_C(1) << 44, 64}, 8760 * HOUR_NS, nanos);
	ck_assert_int_eq(price_sum(nanos), node.node_nanos * 8760);
}

TEST(a_list_may_be_missing)
{
	ck_assert_int_eq(prices_load("/nonexistent", true, &prices, &error), 0);
	ck_assert_uint_eq(prices_count(prices), 0);
	ck_assert_str_eq(prices_currency(prices), "USD");
	prices_free(prices);
	prices = NULL;
	ck_assert_int_eq(prices_load("/nonexistent", false, &prices, &error), -ENOENT);
	ck_assert_str_eq(error.reason, "No such file or directory");
	ck_assert_int_eq(prices_load(NULL, false, &prices, &error), 0);
}

int main(void)
{
	return suite_run("prices", NULL, end);
}
