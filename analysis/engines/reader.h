/* Reads one file of an engine, line by line: names.c knows the types of file, and asks the reader of the type for each
 * line. What they find is added by reader_add(), or is a job with files, which join.c matches to tasks. */
#pragma once

#include <uthash.h>

#include "analysis/engines/names.h"
#include "common/yaml/arena.h"

#define FILE_JOBS_MAX 64 /* a file shared by more jobs does not identify any */
#define COLUMNS_MAX 256

/* A name, and the key by which its task is found. */
struct entry {
	UT_hash_handle hh;
	struct engine_name name;
	char key[]; /* "ab/cdef01", "rule wildcards" */
};

/* A job of a Snakemake log, matched to a task by the files on the task's command line. */
struct job {
	const char *rule, *wildcards;
	unsigned number; /* in order of start */
	unsigned input_count;
	bool taken; /* matched to a task */
};

/* A use of a file by a job. */
struct use {
	struct use *next;
	struct job *job;
	bool is_output;
};

struct file {
	UT_hash_handle hh;
	struct use *uses;
	unsigned use_count;
	char path[];
};

/* What engine_names_learn() found out of a task, and of all tasks of one name. */
struct learned_task {
	UT_hash_handle hh;
	int64_t id;
	const char *engine_name;
};

struct learned_name {
	UT_hash_handle hh;
	const char *engine_name; /* NULL: they have several */
	char name[];
};

struct engine_names {
	struct arena arena;    /* owns everything below */
	struct entry *entries; /* by key */
	size_t count;
	struct file *files; /* by path */
	struct learned_task *learned_tasks;
	struct learned_name *learned_names;
};

/* Columns of trace.txt or of a benchmark file. */
enum { COLUMN_HASH, COLUMN_NAME, COLUMN_PROCESS, COLUMN_TAG, COLUMN_RULE, COLUMN_WILDCARDS, COLUMN_COUNT };

/* What an engine reported about a task, to be shown beside what the kernel counted: columns of Nextflow's trace.txt, with
 * trace.raw or without, and of Snakemake's benchmark files. */
enum engine_figure {
	ENGINE_REALTIME, /* Nextflow: time that the task's script took */
	ENGINE_CPU_SHARE,
	ENGINE_PEAK_RSS,
	ENGINE_SECONDS, /* Snakemake */
	ENGINE_CPU_TIME,
	ENGINE_MAX_RSS,
	ENGINE_FIGURE_COUNT,
};
extern const char *const engine_figure_columns[ENGINE_FIGURE_COUNT];

struct reader {
	const char *path;
	FILE *file;
	char *reason; /* of the caller */
	struct engine_names *names;
	char *line; /* without the line end */
	unsigned number;
	bool known; /* the type of the file is known */
	bool is_table, is_json;
	int column_count, columns[COLUMN_COUNT]; /* -1: no such column */
	int figure_columns[ENGINE_FIGURE_COUNT];
	struct engine_name figures; /* of the line that is being read */
	/* Snakemake's log */
	struct job *job; /* the job whose lines follow, or NULL */
	unsigned job_count;
};

/* Sets the reason, with file and line. Returns -EINVAL. */
int reader_refuse(const struct reader *reader, const char *format, ...) __attribute__((format(printf, 2, 3)));
int reader_no_memory(const struct reader *reader);
/* Returns NULL if out of memory. */
const char *reader_keep(struct reader *reader, const char *text);
/* The last entry of a key counts: a log may contain several runs, one after the other. All return 0 or -errno. */
int reader_add(struct reader *reader, const char *key, const char *name, const char *label);

/* `texts` are NULL where the file has no such column. What is missing, "-", or NA is ROW_NULL. */
void engine_figures_read(const char *const texts[ENGINE_FIGURE_COUNT], struct engine_name *ret_name);

bool nextflow_is_hash(const char *text);
/* "ALIGN:BWA (s1)" is the task s1 of the process ALIGN:BWA. */
int nextflow_add(struct reader *reader, const char *hash, char *name);
int nextflow_read_log(struct reader *reader);

/* `wildcards` are {'sample': 'a', 'unit': 1} or sample=a,unit=1. */
int snakemake_add(struct reader *reader, const char *rule, const char *wildcards);
int snakemake_read_log(struct reader *reader);
int snakemake_end_job(struct reader *reader);

/* The first line of a table: tells whether it has names, or why it is refused. */
int table_read_header(struct reader *reader);
int table_read_row(struct reader *reader);
int benchmark_read_json(struct reader *reader);
