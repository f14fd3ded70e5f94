/* How many command lines a second the shipped rules classify, and redaction passes, on
 * one core.
 *
 *   bench_rules [MILLISECONDS]   per figure, 300 by default
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "correlator/redact/redact.h"
#include "common/rules/rules.h"

#define WORDS_MAX 16

/* NUL between arguments, as the kernel gives them. */
static const struct line {
	const char *what;
	const char *argv;
	size_t size;
} lines[] = {
#define LINE(what, argv) {what, argv, sizeof(argv)}
	LINE("known tool",
	     "bwa\0mem\0-t\0004\0-R\0@RG\\tID:a\\tSM:a\0ref.fa\0a_1.fq.gz\0a_2.fq.gz"),
	LINE("unknown tool", "/home/ada/bin/my_tool\0--input\0/data/project/a.txt\0--threads\0008"),
	LINE("helper", "mkdir\0-p\0results/mapped"),
	LINE("shell -c",
	     "/bin/bash\0-c\0set -euo pipefail; bwa mem ref.fa a.fq | samtools sort -o a.bam -"),
	LINE("script in Python",
	     "/usr/bin/python3\0/usr/bin/snakemake\0-s\0workflow/Snakefile\0-j\0002"),
	LINE("java jar",
	     "java\0-Xmx4g\0-XX:+UseParallelGC\0-jar\0/opt/picard.jar\0MarkDuplicates\0I=a.bam"),
	LINE("compiler pass",
	     "/usr/lib/gcc/x86_64-linux-gnu/12/cc1\0-quiet\0-I.\0x.c\0-o\0/tmp/x.s"),
	LINE("with a secret",
	     "curl\0-sS\0-H\0Authorization: Bearer abcdefgh\0https://host/api/v1/things"),
#undef LINE
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static size_t line_split(const struct line *line, const char *words[WORDS_MAX])
{
	size_t count = 0;

	for (const char *word = line->argv; word < line->argv + line->size && count < WORDS_MAX;
	     word += strlen(word) + 1)
		words[count++] = word;
	return count;
}

static void classify(const struct rules *rules, const struct line *line)
{
	const char *words[WORDS_MAX];
	size_t count = line_split(line, words);
	struct rules_subject subject = {
		.path = words[0],
		.argc = count,
		.argv = words,
		.working_directory = "/home/ada/project",
		.cgroup = "/user.slice/user-1000.slice/session-3.scope",
	};
	struct rules_verdict verdict;

	rules_classify(rules, &subject, &verdict);
}

static void redact(const struct rules *rules, const struct line *line)
{
	uint32_t count;
	size_t size;
	char *out;

	if (redact_arguments(REDACT_SECRETS, line->argv, line->size, &out, &size, &count) == 0)
		free(out);
}

static double nanoseconds_each(void (*work)(const struct rules *, const struct line *),
			       const struct rules *rules, const struct line *line, uint64_t span_ns)
{
	uint64_t begin = now_ns(), end, count = 0;

	do {
		for (int i = 0; i < 100; i++)
			work(rules, line);
		count += 100;
		end = now_ns();
	} while (end - begin < span_ns);
	return (double)(end - begin) / (double)count;
}

int main(int argc, char **argv)
{
	uint64_t span_ns = (uint64_t)(argc > 1 ? atoi(argv[1]) : 300) * 1000000;
	struct tree_error error;
	struct rules *rules;

	if (rules_load(NULL, &rules, &error) < 0) {
		fprintf(stderr, "bench_rules: %s:%u: %s\n", error.file, error.line, error.reason);
		return EXIT_FAILURE;
	}
	printf("%zu rules\n%-20s %14s %14s\n", rules_count(rules), "command line", "classify ns",
	       "redact ns");
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		printf("%-20s %14.0f %14.0f\n", lines[i].what,
		       nanoseconds_each(classify, rules, &lines[i], span_ns),
		       nanoseconds_each(redact, rules, &lines[i], span_ns));
	rules_free(rules);
	return EXIT_SUCCESS;
}
