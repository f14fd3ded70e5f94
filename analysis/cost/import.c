/* Price lists of cloud providers: what the formats have in common. See import.h. */
#include "analysis/cost/import.h"

#include <csv.h>
#include <errno.h>
#include <string.h>
#include <uthash.h>

#include "analysis/cost/import_list.h"

#define NANOS 1000000000

struct import_entry {
	UT_hash_handle hh;
	struct import_price price;
	char key[];
};

static char *key_end(char *at, const char *text)
{
	size_t size = strlen(text) + 1;

	memcpy(at, text, size);
	return at + size;
}

static struct import_entry *entry_new(const struct import_price *price, size_t *ret_key_size)
{
	size_t key_size = strlen(price->type) + strlen(price->region) + 4;
	struct import_entry *entry = calloc(1, sizeof(*entry) + key_size);
	char *kind;

	*ret_key_size = key_size;
	if (!entry)
		return NULL;
	entry->price = *price;
	entry->price.type = entry->key;
	entry->price.region = key_end(entry->key, price->type);
	kind = key_end(entry->key + strlen(price->type) + 1, price->region);
	kind[0] = price->is_spot ? 's' : 'd';
	kind[1] = (char)('0' + price->asset);
	return entry;
}

static int texts_take(struct import_list *list, struct import_price *into, const struct import_price *from)
{
	into->currency = arena_copy(&list->texts, from->currency, strlen(from->currency));
	into->since = arena_copy(&list->texts, from->since, strlen(from->since));
	into->nanos = from->nanos;
	return into->currency && into->since ? 0 : -ENOMEM;
}

int import_list_add(struct import_list *list, const struct import_price *price)
{
	struct import_entry *entry, *found;
	size_t key_size;

	if (!*price->type || !*price->region || price->nanos <= 0) {
		import_leave_out(list);
		return 0;
	}
	entry = entry_new(price, &key_size);
	if (!entry)
		return -ENOMEM;
	HASH_FIND(hh, list->entries, entry->key, key_size, found);
	if (!found) {
		HASH_ADD_KEYPTR(hh, list->entries, entry->key, key_size, entry);
		return texts_take(list, &entry->price, price);
	}
	free(entry);
	list->counts.repeated++;
	return strcmp(price->since, found->price.since) > 0 ? texts_take(list, &found->price, price) : 0;
}

static void entry_write(const struct import_entry *entry, FILE *out)
{
	static const char *const assets[] = {[IMPORT_NODE] = "node", [IMPORT_CPU] = "cpu", [IMPORT_MEMORY] = "memory"};
	const struct import_price *price = &entry->price;

	fprintf(out, "%s,", assets[price->asset]);
	csv_fwrite(out, price->type, strlen(price->type));
	putc(',', out);
	csv_fwrite(out, price->region, strlen(price->region));
	fprintf(out, ",%s,%lld.%09lld,", price->is_spot ? "spot" : "", (long long)(price->nanos / NANOS),
		(long long)(price->nanos % NANOS));
	csv_fwrite(out, price->currency, strlen(price->currency));
	putc('\n', out);
}

static void list_write(struct import_list *list, FILE *out)
{
	fputs("AssetClass,InstanceType,Region,Lifecycle,MarketPriceHourly,Currency\n", out);
	for (const struct import_entry *entry = list->entries; entry; entry = entry->hh.next) {
		entry_write(entry, out);
		list->counts.taken++;
	}
}

static void list_free(struct import_list *list)
{
	struct import_entry *entry, *next;

	HASH_ITER (hh, list->entries, entry, next) {
		HASH_DEL(list->entries, entry);
		free(entry);
	}
	arena_deinit(&list->texts);
}

int import_prices(enum import_format format, const char *path, FILE *out, struct import_counts *ret_counts,
		  struct tree_error *ret_error)
{
	static int (*const readers[])(const char *path, struct import_list *list, struct tree_error *ret_error) = {
		[IMPORT_AWS_CSV] = import_aws_csv, [IMPORT_AWS_JSON] = import_aws_json, [IMPORT_AZURE] = import_azure,
		[IMPORT_FOCUS] = import_focus,     [IMPORT_GCP] = import_gcp,
	};
	struct import_list list = {0};
	int error = readers[format](path, &list, ret_error);

	if (error == 0) {
		list_write(&list, out);
		error = fflush(out) == 0 && !ferror(out) ? 0 : -EIO;
	}
	*ret_counts = list.counts;
	list_free(&list);
	return error;
}
