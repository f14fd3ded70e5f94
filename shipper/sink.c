/* The table of sinks. See sink.h. */
#include "shipper/sink.h"

#include <string.h>

static const struct sink_type *const types[] = {&sink_clickhouse, &sink_ndjson, &sink_otlp};

const struct sink_type *sink_find(const char *name)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strcmp(types[i]->name, name) == 0)
			return types[i];
	return NULL;
}
