/* Packages of rpm. See rpm.h.
 *
 * The table Basenames says which package has a file of a name, and which number the file has in it. The package is a header
 * (https://rpm-software-management.github.io/rpm/manual/format_header.html): the numbers of its entries and of bytes of data,
 * entries of four numbers (tag, type, offset, count), and the data. Numbers are big-endian.
 */
#include "analysis/versions/rpm.h"

#include <endian.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { TAG_NAME = 1000, TAG_VERSION = 1001, TAG_DIRINDEXES = 1116, TAG_DIRNAMES = 1118 };
#define ENTRY_SIZE 16
#define LENGTHS_SIZE 8

/* Of untrusted size: nothing is read beyond `end`. */
struct header {
	const unsigned char *entries, *data, *end;
};

static uint32_t number_at(const unsigned char *bytes)
{
	uint32_t number;

	memcpy(&number, bytes, sizeof(number));
	return be32toh(number);
}

static bool header_init(struct header *header, const void *blob, size_t size)
{
	const unsigned char *bytes = blob;
	uint64_t entries_size = size >= LENGTHS_SIZE ? (uint64_t)number_at(bytes) * ENTRY_SIZE : 0;

	if (size < LENGTHS_SIZE || entries_size > size - LENGTHS_SIZE)
		return false;
	header->entries = bytes + LENGTHS_SIZE;
	header->data = header->entries + entries_size;
	header->end = bytes + size;
	return true;
}

/* Returns where the value of a tag begins, or NULL. */
static const unsigned char *header_find(const struct header *header, uint32_t tag, uint32_t *ret_count)
{
	for (const unsigned char *entry = header->entries; entry < header->data; entry += ENTRY_SIZE) {
		uint32_t offset = number_at(entry + 8);

		if (number_at(entry) != tag || offset >= (size_t)(header->end - header->data))
			continue;
		*ret_count = number_at(entry + 12);
		return header->data + offset;
	}
	return NULL;
}

/* Returns the text of that index in an array of texts, or NULL. */
static const char *header_text(const struct header *header, uint32_t tag, uint32_t index)
{
	uint32_t count = 0;
	const unsigned char *text = header_find(header, tag, &count);

	for (uint32_t i = 0; text && text < header->end && i < count; i++) {
		const unsigned char *end = memchr(text, '\0', (size_t)(header->end - text));

		if (!end || i == index)
			return end ? (const char *)text : NULL;
		text = end + 1;
	}
	return NULL;
}

/* The folder of the file of that number, with a slash at its end. */
static const char *header_folder(const struct header *header, uint32_t file)
{
	uint32_t count = 0;
	const unsigned char *indexes = header_find(header, TAG_DIRINDEXES, &count);

	if (!indexes || file >= count || (size_t)(header->end - indexes) / sizeof(uint32_t) <= file)
		return NULL;
	return header_text(header, TAG_DIRNAMES, number_at(indexes + file * sizeof(uint32_t)));
}

static bool package_read(sqlite3_stmt *row, const char *real, const char *base, struct package_owner *owner)
{
	const char *folder, *name, *version;
	struct header header;

	if (!header_init(&header, sqlite3_column_blob(row, 1), (size_t)sqlite3_column_bytes(row, 1)))
		return false;
	folder = header_folder(&header, (uint32_t)sqlite3_column_int(row, 0));
	name = header_text(&header, TAG_NAME, 0);
	version = header_text(&header, TAG_VERSION, 0);
	if (!folder || !name || !version || strlen(folder) != (size_t)(base - real) ||
	    strncmp(folder, real, strlen(folder)) != 0)
		return false;
	owner->manager = "rpm";
	snprintf(owner->package, sizeof(owner->package), "%s", name);
	snprintf(owner->version, sizeof(owner->version), "%s", version);
	return true;
}

static bool database_find(const char *uri, const char *real, struct package_owner *owner)
{
	const char *base = strrchr(real, '/') + 1;
	sqlite3 *database = NULL;
	sqlite3_stmt *row = NULL;
	bool is_found = false;

	if (sqlite3_open_v2(uri, &database, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL) == SQLITE_OK &&
	    sqlite3_prepare_v2(
		    database,
		    "SELECT b.idx, p.blob FROM Basenames b JOIN Packages p ON p.hnum = b.hnum WHERE b.key = ?", -1,
		    &row, NULL) == SQLITE_OK &&
	    sqlite3_bind_text(row, 1, base, -1, SQLITE_STATIC) == SQLITE_OK)
		while (!is_found && sqlite3_step(row) == SQLITE_ROW)
			is_found = package_read(row, real, base, owner);
	sqlite3_finalize(row);
	sqlite3_close(database);
	return is_found;
}

bool rpm_find(const char *root, const char *real, struct package_owner *owner)
{
	static const char *const folders[] = {"/usr/lib/sysimage/rpm", "/var/lib/rpm"};
	/* Where the log cannot be read without writing, the file alone is, which rpm brings up to date when it ends. */
	static const char *const options[] = {"", "?immutable=1"};
	char uri[PATH_MAX + 64];

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		for (size_t k = 0; k < sizeof(options) / sizeof(options[0]); k++) {
			snprintf(uri, sizeof(uri), "file:%s%s/rpmdb.sqlite%s", root, folders[i], options[k]);
			if (database_find(uri, real, owner))
				return true;
		}
	return false;
}
