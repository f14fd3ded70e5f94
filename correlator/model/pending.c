/* See pending.h. */
#include "correlator/model/pending.h"

#include <utlist.h>

#include "correlator/model/model.h"

#define HOST_SAMPLES_MAX 600 /* while the store cannot be written: of the host and its file systems */

#define NO_TEXT(column)
#define COPY_TEXT(column) copy->column = text_copy(model, row->column);
#define FREE_TEXT(column) free((char *)row->column);

static const char *text_copy(struct model *model, const char *text)
{
	char *copy = text ? strdup(text) : NULL;

	model->out_of_memory = model->out_of_memory || (text && !copy);
	return copy;
}

static bool is_host_sample(enum fact_kind kind)
{
	return kind == FACT_HOST_SAMPLE || kind == FACT_FILE_SYSTEM_SAMPLE;
}

static void fact_free(struct model *model, struct fact *fact)
{
	switch (fact->kind) {
#define R(NAME, name, table, key) \
	case FACT_##NAME: { \
		const struct row_##name *row = &fact->name; \
\
		(void)row; /* unused if the row has no text */ \
		ROW_##NAME##_COLUMNS(NO_TEXT, FREE_TEXT, NO_TEXT) break; \
	}
		ROW_FACTS(R)
#undef R
	}
	DL_DELETE(model->facts, fact);
	model->fact_count--;
	model->host_sample_count -= is_host_sample(fact->kind);
	free(fact);
}

static void oldest_host_sample_free(struct model *model)
{
	struct fact *fact;

	DL_FOREACH (model->facts, fact)
		if (is_host_sample(fact->kind)) {
			fact_free(model, fact);
			return;
		}
}

static struct fact *fact_new(struct model *model, enum fact_kind kind)
{
	struct fact *fact;

	if (is_host_sample(kind) && model->host_sample_count == HOST_SAMPLES_MAX)
		oldest_host_sample_free(model);
	fact = model_alloc(model, sizeof(*fact));
	if (!fact)
		return NULL;
	fact->kind = kind;
	DL_APPEND(model->facts, fact);
	model->fact_count++;
	model->host_sample_count += is_host_sample(kind);
	return fact;
}

#define R(NAME, name, table, key) \
	void pending_add_##name(struct model *model, const struct row_##name *row) \
	{ \
		struct fact *fact = fact_new(model, FACT_##NAME); \
		struct row_##name *copy = fact ? &fact->name : NULL; \
\
		if (!copy) \
			return; \
		*copy = *row; \
		ROW_##NAME##_COLUMNS(NO_TEXT, COPY_TEXT, NO_TEXT) \
	}
ROW_FACTS(R)
#undef R

void pending_clear(struct model *model)
{
	while (model->facts)
		fact_free(model, model->facts);
}
