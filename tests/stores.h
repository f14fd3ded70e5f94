/* A store in a directory of the test's own: what the tests of common/store share. */
#pragma once

#include "common/store/store.h"
#include "tests/suite.h"

/* Newline, escape sequence, invalid UTF-8. */
#define HOSTILE "a\n\x1b[31m\xff\xfe\xc3(\\'\""

extern char directory[128], path[160]; /* the store's file is `path` */

extern struct store *store; /* its writer, NULL: none is open */

/* suite_run() of tests that have such a directory each, and the writer open. */
int stores_run(const char *name);
void make_directory(void);
/* Closes the writer first. */
void remove_directory(void);

void open_store(void);
void close_store(void);
struct store *open_reader(void);

/* A row in which every integer is `value` and every text is `text`; and such a row is put. */
#define R(NAME, name, table, key) \
	struct row_##name fill_##name(int64_t value, const char *text); \
	void put_##name(const struct row_##name *row);
ROWS(R)
#undef R

struct store_stream stream_at(uint64_t offset);
void commit(uint64_t offset);
/* One row of each table. */
void put_everything(int64_t value);

size_t count_rows(struct store *reader, const char *query, const struct store_parameter *parameters);
/* How many rows a query of query/ finds, given whichever parameters it has. */
size_t run_query(struct store *reader, const char *query);
/* The whole of one statement's first column, for what no query file asks. */
int64_t read_integer(const char *sql);

void kill_and_wait(pid_t child);
/* A writer that has one commit, and is killed in the middle of a large second one. */
void kill_a_writer(void);
