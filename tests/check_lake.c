/* Parsing answers of the lake, and building statements for it: any input, split anywhere. */
#include <errno.h>

#include "analysis/lake/rowbinary.h"
#include "analysis/lake/statement.h"
#include "tests/suite.h"

#define BYTES(literal) literal, sizeof(literal) - 1
#define HEAD_OF_ONE(type_size, type) "\x01\x01n" type_size type

static struct rowbinary *rows;

static void setup(void)
{
	rows = rowbinary_new();
	ck_assert_ptr_nonnull(rows);
}

static void teardown(void)
{
	rowbinary_free(rows);
}

/* Returns the result for the header or, if that is 1, for the first row. */
static int read_first(const void *data, size_t size)
{
	int taken;

	ck_assert_int_eq(rowbinary_feed(rows, data, size), 0);
	taken = rowbinary_read_head(rows);
	return taken == 1 ? rowbinary_next(rows) : taken;
}

static void assert_value(size_t column, const char *expected)
{
	struct store_value value = rowbinary_value(rows, column);
	char text[64];

	if (value.type == STORE_VALUE_NULL)
		snprintf(text, sizeof(text), "NULL");
	else if (value.type == STORE_VALUE_INTEGER)
		snprintf(text, sizeof(text), "%lld", (long long)value.integer);
	else if (value.type == STORE_VALUE_REAL)
		snprintf(text, sizeof(text), "%g", value.real);
	else
		snprintf(text, sizeof(text), "%zu:%.*s", value.size, (int)value.size, value.data);
	ck_assert_msg(strcmp(text, expected) == 0, "%s is %s, expected %s", rowbinary_name(rows, column), text,
		      expected);
}

/* ---- values --------------------------------------------------------------------- */

static const struct {
	const char *data;
	size_t size;
	const char *value;
} values[] = {
	{BYTES(HEAD_OF_ONE("\x05", "Int64") "\xfe\xff\xff\xff\xff\xff\xff\xff"), "-2"},
	{BYTES(HEAD_OF_ONE("\x06", "UInt64") "\x01\0\0\0\0\0\0\x40"), "4611686018427387905"},
	{BYTES(HEAD_OF_ONE("\x05", "Int32") "\xff\xff\xff\xff"), "-1"},
	{BYTES(HEAD_OF_ONE("\x06", "UInt32") "\xff\xff\xff\xff"), "4294967295"},
	{BYTES(HEAD_OF_ONE("\x05", "Int16") "\0\x80"), "-32768"},
	{BYTES(HEAD_OF_ONE("\x06", "UInt16") "\0\x80"), "32768"},
	{BYTES(HEAD_OF_ONE("\x04", "Int8") "\x80"), "-128"},
	{BYTES(HEAD_OF_ONE("\x05", "UInt8") "\x80"), "128"},
	{BYTES(HEAD_OF_ONE("\x04", "Bool") "\x01"), "1"},
	{BYTES(HEAD_OF_ONE("\x07", "Float64") "\0\0\0\0\0\0\xf8\x3f"), "1.5"},
	/* clang-format off */
	{BYTES(HEAD_OF_ONE("\x06", "String") "\x03" "a\xff" "b"), "3:a\xff" "b"},
	/* clang-format on */
	{BYTES(HEAD_OF_ONE("\x06", "String") "\0"), "0:"},
	{BYTES(HEAD_OF_ONE("\x10", "Nullable(String)") "\x01"), "NULL"},
	{BYTES(HEAD_OF_ONE("\x10", "Nullable(String)") "\0\x01x"), "1:x"},
	{BYTES(HEAD_OF_ONE("\x20", "LowCardinality(Nullable(String))") "\x01"), "NULL"},
	{BYTES(HEAD_OF_ONE("\x11", "Nullable(Nothing)") "\x01"), "NULL"},
	{BYTES(HEAD_OF_ONE("\x0d", "Array(String)") "\0"), "NULL"},
};

TEST_EACH(test_value, values)
{
	ck_assert_int_eq(read_first(values[_i].data, values[_i].size), 1);
	assert_value(0, values[_i].value);
	ck_assert_int_eq(rowbinary_next(rows), 0);
	ck_assert_uint_eq(rowbinary_pending(rows), 0);
}

TEST(test_strings_are_a_blob)
{
	struct store_value value;

	/* clang-format off */
	ck_assert_int_eq(read_first(BYTES(HEAD_OF_ONE("\x0d", "Array(String)") "\x03\x01" "a\0\x02" "bc")), 1);
	/* clang-format on */
	value = rowbinary_value(rows, 0);
	ck_assert_int_eq(value.type, STORE_VALUE_BLOB);
	ck_assert_uint_eq(value.size, 6);
	ck_assert_mem_eq(value.data, "a\0\0bc\0", 6);
}

/* ---- truncated, and in pieces ------------------------------------------------------ */

/* clang-format off */
static const char several[] = "\x03\x02id\x04name\x04" "args\x05Int64\x10Nullable(String)\x0d" "Array(String)"
			      "\x01\0\0\0\0\0\0\0\0\x03one\x02\x01" "a\x01" "b"
			      "\x02\0\0\0\0\0\0\0\x01\0";
/* clang-format on */
#define SEVERAL_SIZE (sizeof(several) - 1)
#define SEVERAL_HEAD_SIZE (SEVERAL_SIZE - 8 - 5 - 5 - 10)

/* After each byte, the header and the rows that are whole are there, and what is pending is known. */
TEST(test_byte_by_byte)
{
	const size_t ends[] = {SEVERAL_HEAD_SIZE, SEVERAL_SIZE - 10, SEVERAL_SIZE}; /* of the header and the rows */
	size_t whole = 0;

	ck_assert_int_eq(rowbinary_read_head(rows), 0);
	for (size_t size = 1; size <= SEVERAL_SIZE; size++) {
		ck_assert_int_eq(rowbinary_feed(rows, several + size - 1, 1), 0);
		if (whole == 0)
			whole = rowbinary_read_head(rows) == 1;
		while (whole > 0 && rowbinary_next(rows) == 1) {
			assert_value(0, whole == 1 ? "1" : "2");
			assert_value(1, whole == 1 ? "3:one" : "NULL");
			whole++;
		}
		ck_assert_int_eq((int)whole, (size >= ends[0]) + (size >= ends[1]) + (size >= ends[2]));
		ck_assert_int_eq(whole > 0 && rowbinary_pending(rows) == 0, whole > 0 && size == ends[whole - 1]);
	}
}

/* ---- invalid answers ------------------------------------------------------------------ */

#define NAME_OF_129 \
	"\x81\x01" \
	"nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn" \
	"nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"

static const struct {
	const char *data;
	size_t size;
	int error;
} refused[] = {
	{BYTES("\0"), -EPROTO},                                           /* no columns */
	{BYTES("\x81\x02"), -EPROTO},                                     /* 257 of them */
	{BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), -EPROTO}, /* beyond 64 bits */
	{BYTES("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80"), -EPROTO},     /* 0, in endless form */
	{BYTES("\x01" NAME_OF_129), -EPROTO},
	{BYTES(HEAD_OF_ONE("\x07", "UInt128") "0123456789abcdef"), -ENOTSUP},
	{BYTES(HEAD_OF_ONE("\x0c", "Array(Int64)") "\0"), -ENOTSUP},
	{BYTES(HEAD_OF_ONE("\0", "")), -ENOTSUP},
	{BYTES(HEAD_OF_ONE("\x07", "Nothing") "x"), -EPROTO}, /* rows of zero bytes */
	{BYTES(HEAD_OF_ONE("\x11", "Nullable(Nothing)") "\0"), -EPROTO},
	{BYTES(HEAD_OF_ONE("\x0f", "Nullable(Int64)") "\x02"), -EPROTO},
	{BYTES(HEAD_OF_ONE("\x06", "String") "\xff\xff\xff\xff\x7f"), -EPROTO}, /* 32 GiB */
	{BYTES(HEAD_OF_ONE("\x06", "String") "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f"), -EPROTO},
	{BYTES(HEAD_OF_ONE("\x0d", "Array(String)") "\xff\xff\xff\xff\x7f"), -EPROTO},
	{BYTES(HEAD_OF_ONE("\x0d", "Array(String)") "\x01\xff\xff\xff\xff\x7f"), -EPROTO},
	/* An error text instead of a row. */
	{BYTES(HEAD_OF_ONE("\x0f", "Nullable(Int64)") "Code: 241. DB::Exception"), -EPROTO},
};

TEST_EACH(test_refused, refused)
{
	ck_assert_int_eq(read_first(refused[_i].data, refused[_i].size), refused[_i].error);
}

/* An endless row is rejected once it exceeds the size limit. */
TEST(test_endless_row)
{
	static const char head[] = HEAD_OF_ONE("\x0d", "Array(String)") "\xff\xff\xff\x03";
	static char zeros[1 << 20];
	int taken = read_first(BYTES(head));

	for (int i = 0; i < 16 && taken == 0; i++) {
		ck_assert_int_eq(rowbinary_feed(rows, zeros, sizeof(zeros)), 0);
		taken = rowbinary_next(rows);
	}
	ck_assert_int_eq(taken, 1); /* 8,388,607 empty strings: just below the limit */
	rowbinary_free(rows);
	setup();
	taken = read_first(BYTES(HEAD_OF_ONE("\x0d", "Array(String)") "\x80\x80\x80\x04\x80\x80\x80\x03"));
	memset(zeros, 'x', sizeof(zeros));
	for (int i = 0; i < 16 && taken == 0; i++) {
		ck_assert_int_eq(rowbinary_feed(rows, zeros, sizeof(zeros)), 0);
		taken = rowbinary_next(rows);
	}
	ck_assert_int_eq(taken, -EPROTO);
}

/* ---- statements ----------------------------------------------------------------------- */

static const struct store_parameter parameters[] = {
	{"run_id", STORE_INTEGER, -5, NULL},
	{"name", STORE_TEXT, 0, "a\tb\\'\n&=\xc3\xa4"},
	{"host", STORE_NULL, 0, NULL},
	{0},
};

static void assert_translated(const char *sql, const char *expected)
{
	char *text = NULL;

	ck_assert_int_eq(statement_translate(sql, parameters, &text), 0);
	ck_assert_str_eq(text, expected);
	free(text);
}

TEST(test_parameters_are_named)
{
	assert_translated("SELECT :name, :run_id + :run_id, :host;\n \n",
			  "SELECT {name:String}, {run_id:Int64} + {run_id:Int64}, NULL");
	assert_translated("-- of :name; :other\nSELECT ':run_id '' :host', :name, :run_id, :host, 5:6",
			  "-- of :name; :other\nSELECT ':run_id '' :host', {name:String}, {run_id:Int64}, NULL, 5:6");
	assert_translated(":name:run_id:host", "{name:String}{run_id:Int64}NULL");
	assert_translated(":name :run_id :host :unbound 'open", "{name:String} {run_id:Int64} NULL NULL 'open");
}

TEST(test_materialized_is_dropped)
{
	char sql[] = "WITH a AS MATERIALIZED (SELECT 1), b AS (SELECT 2), c AS MATERIALIZED (SELECT 3)";

	statement_drop_materialized(sql);
	ck_assert_str_eq(sql, "WITH a AS              (SELECT 1), b AS (SELECT 2), c AS              (SELECT 3)");
}

TEST(test_unknown_parameter)
{
	char *text;

	ck_assert_int_eq(statement_translate("SELECT :name, :host -- :run_id", parameters, &text), -EINVAL);
	ck_assert_int_eq(statement_translate("SELECT :name, :host, :run_identity", parameters, &text), -EINVAL);
}

TEST(test_values_are_encoded)
{
	char *text = statement_format_parameters(parameters);

	ck_assert_str_eq(text, "&param_run_id=-5&param_name=a%5Ctb%5C%5C%27%5Cn%26%3D%C3%A4");
	free(text);
	text = statement_format_parameters(NULL);
	ck_assert_str_eq(text, "");
	free(text);
}

int main(void)
{
	return suite_run("lake", setup, teardown);
}
