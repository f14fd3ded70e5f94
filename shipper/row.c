/* Rows as JSON. See row.h. */
#include "shipper/row.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void row_begin(struct json_text *text)
{
	json_text_clear(text);
	json_text_raw(text, "{");
}

static void add_name(struct json_text *text, const char *name)
{
	if (!text->failed && text->data[text->size - 1] != '{')
		json_text_raw(text, ",");
	json_text_raw(text, "\"");
	json_text_raw(text, name);
	json_text_raw(text, "\":");
}

void row_add_unsigned(struct json_text *text, const char *name, uint64_t number)
{
	add_name(text, name);
	json_text_unsigned(text, number);
}

void row_add_string(struct json_text *text, const char *name, const char *string)
{
	add_name(text, name);
	json_text_string(text, string, strlen(string));
}

void row_add_value(struct json_text *text, const char *name, const struct store_value *value)
{
	char digits[40];

	add_name(text, name);
	switch (value->type) {
	case STORE_VALUE_INTEGER: json_text_integer(text, value->integer); break;
	case STORE_VALUE_REAL:
		snprintf(digits, sizeof(digits), "%.17g", value->real);
		json_text_raw(text, isfinite(value->real) ? digits : "null");
		break;
	case STORE_VALUE_TEXT: json_text_string(text, value->data, value->size); break;
	case STORE_VALUE_BLOB: json_text_list(text, value->data, value->size); break;
	default: json_text_raw(text, "null"); break;
	}
}

int row_end(struct json_text *text)
{
	json_text_raw(text, "}\n");
	return text->failed ? -ENOMEM : 0;
}
