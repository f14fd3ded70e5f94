/* A store in the test's own directory: shared by the tests of the store. */
#pragma once

#include "correlator/store/writer.h"
#include "tests/suite.h"

/* Newline, escape sequence, invalid UTF-8. */
#define HOSTILE "a\n\x1b[31m\xff\xfe\xc3(\\'\""

extern char directory[128], path[160]; /* `path` is the store's file */

extern struct store *store; /* its writer; NULL if none is open */

/* suite_run() for tests that each get such a directory and an open writer. */
int stores_run(const char *name);
void make_directory(void);
/* Closes the writer first. */
void remove_directory(void);

void open_store(void);
void close_store(void);
struct store *open_reader(void);

/* Fills a row, every integer with `value` and every text with `text`; put_* also stores it. */
#define R(NAME, name, table, key) \
	struct row_##name fill_##name(int64_t value, const char *text); \
	void put_##name(const struct row_##name *row);
ROWS(R)
#undef R

/* A row with these columns: PUT(RUN, run, .id = 3, .kind = "batch"). Its other integers are 0, and texts "text". */
#pragma GCC diagnostic ignored "-Woverride-init"
#define ROW_I(column)
#define ROW_T(column) .column = "text",
#define ROW_B(column) .column = {"text", 4},
#define ROW(NAME, name, ...) ((struct row_##name){ROW_##NAME##_COLUMNS(ROW_I, ROW_T, ROW_B) __VA_ARGS__})
#define PUT(NAME, name, ...) put_##name(&ROW(NAME, name, __VA_ARGS__))

struct store_stream stream_at(uint64_t offset);
void commit(uint64_t offset);
/* Stores one row in each table. */
void put_everything(int64_t value);

size_t count_rows(struct store *reader, const char *query, const struct store_parameter *parameters);
/* Number of rows that a query of query/ returns, with default values for its parameters. */
size_t run_query(struct store *reader, const char *query);
/* First column of one statement, for what no query file covers. */
int64_t read_integer(const char *sql);
int64_t count_of(const char *table);
/* The rows of a query, see suite_rows(). */
#define ck_assert_rows(sql, expected) ck_assert_str_eq(suite_rows(path, sql, ""), expected)

/* Starts a process that runs `run`, and waits until that writes a byte to `ready_fd`. It ends with its parent. */
pid_t start_child(void (*run)(int ready_fd));
void kill_and_wait(pid_t child);
/* Starts a writer that commits once and is killed during a large second transaction. */
void kill_a_writer(void);
