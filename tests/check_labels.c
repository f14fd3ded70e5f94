/* Labels from command lines: what distinguishes each of several tasks of a name. */
#include "analysis/query/labels.h"

#include <string.h>

#include "tests/suite.h"

#define SIBLINGS_MAX 4

static struct rows lines;

static void lines_begin(void)
{
	lines = (struct rows){0};
}

/* Adds a command line: arguments separated by |. */
static void line_add(int64_t task_id, const char *name, const char *tool, const char *command)
{
	char copy[4096];
	int size = snprintf(copy, sizeof(copy), "%s", command) + 1;
	struct row_task_line line = {.task_id = task_id, .name = name, .tool = tool};

	for (int i = 0; i < size; i++)
		copy[i] = copy[i] == '|' ? '\0' : copy[i];
	line.arguments = (struct row_blob){copy, (size_t)size};
	ck_assert_int_eq(labels_add_line(&lines, &line), 0);
}

/* Tasks of one name, whose tool has the same, and their labels. */
static const struct {
	const char *name;
	struct {
		const char *command, *label;
	} siblings[SIBLINGS_MAX];
} cases[] = {
	/* make: the object, whatever else differs */
	{"gcc",
	 {{"gcc|-O2|-c|-o|build/a.o|a.c", "a.o"},
	  {"gcc|-O2|-c|-o|build/b.o|b.c", "b.o"},
	  {"gcc|-O2|-o|hello|build/a.o|build/b.o", "hello"}}},
	/* xargs, parallel: the input */
	{"sort", {{"sort|in/1.txt", "1.txt"}, {"sort|in/2.txt", "2.txt"}}},
	{"sort", {{"sort|_left", "_left"}, {"sort|.right", ".right"}}},
	{"gzip", {{"gzip|-k|alpha", "alpha"}, {"gzip|-k|beta", "beta"}}},
	{"work.sh", {{"bash|work.sh|liver|conf.yaml", "liver"}, {"bash|work.sh|kidney|conf.yaml", "kidney"}}},
	/* a parameter: the number alone only if there is nothing else */
	{"crunch.py", {{"python3|crunch.py|--chunk|3|--of|12", "3"}, {"python3|crunch.py|--chunk|4|--of|12", "4"}}},
	{"train.py", {{"python3|train.py|--lr=0.1|--seed=1", "0.1"}, {"python3|train.py|--lr=0.01|--seed=1", "0.01"}}},
	{"iqtree", {{"iqtree|-s|all.phy|-seed|1", "all.phy 1"}, {"iqtree|-s|all.phy|-seed|2", "all.phy 2"}}},
	/* pairs of files of a sample: what they share */
	{"bwa mem + samtools sort",
	 {{"bwa|mem|-t|4|ref/hg38.fa|fq/s1_1.fq.gz|fq/s1_2.fq.gz", "s1"},
	  {"bwa|mem|-t|4|ref/hg38.fa|fq/s2_1.fq.gz|fq/s2_2.fq.gz", "s2"}}},
	{"bwa mem", {{"bwa|mem|s1__1.fq|s1__2.fq", "s1"}, {"bwa|mem|s2__1.fq|s2__2.fq", "s2"}}},
	{"fastp", {{"fastp|-i|A_L1.fq.gz|-I|A_L1.2.fq.gz", "A_L1"}, {"fastp|-i|A_L2.fq.gz|-I|A_L2.2.fq.gz", "A_L2"}}},
	/* seeds and logs distinguish less than files */
	{"wgsim",
	 {{"wgsim|-S|12|ref.fa|heart.1.fq|heart.2.fq|log/heart.log", "heart"},
	  {"wgsim|-S|11|ref.fa|brain.1.fq|brain.2.fq|log/brain.log", "brain"}}},
	{"STAR",
	 {{"STAR|--genomeDir|star|--readFilesIn|S1_1.fq.gz|--outFileNamePrefix|S1.", "S1"},
	  {"STAR|--genomeDir|star|--readFilesIn|S10_1.fq.gz|--outFileNamePrefix|S10.", "S10"}}},
	/* a stem that several share is none for these */
	{"merge",
	 {{"merge|a_1.fq|a_2.fq", "a"},
	  {"merge|b_1.fq|b_2.fq", "b_1.fq b_2.fq"},
	  {"merge|b_3.fq|b_4.fq", "b_3.fq b_4.fq"}}},
	/* the same files in folders of samples, and in folders of both */
	{"fastqc", {{"fastqc|data/NA12878/reads.fq", "NA12878"}, {"fastqc|data/NA12891/reads.fq", "NA12891"}}},
	{"fastqc",
	 {{"fastqc|data/a/1.fq", "a/1.fq"}, {"fastqc|data/a/2.fq", "2.fq"}, {"fastqc|data/b/1.fq", "b/1.fq"}}},
	/* with an explicit target */
	{"samtools sort",
	 {{"samtools|sort|-o|s1.sorted.bam|s1.bam", "s1.sorted.bam"},
	  {"samtools|sort|-o|s2.sorted.bam|s2.bam", "s2.sorted.bam"}}},
	{"sort",
	 {{"sort|-o|a/out.txt|x.txt", "out.txt x.txt"}, {"sort|-o|a/out.txt|y.txt", "out.txt y.txt"}, {"sort|z", "z"}}},
	/* nothing shared: everything that differs */
	{"cmp", {{"cmp|ref_a|x1", "ref_a x1"}, {"cmp|ref_a|x2", "ref_a x2"}, {"cmp|ref_b|x1", "ref_b x1"}}},
	{"fit", {{"fit|a.csv|1", "a.csv 1"}, {"fit|a.csv|2", "a.csv 2"}, {"fit|b.csv|1", "b.csv"}}},
	/* a second attempt gets the same label */
	{"bwa mem", {{"bwa|mem|ref.fa|s1.fq", "s1.fq"}, {"bwa|mem|ref.fa|s1.fq", "s1.fq"}}},
	{"sort", {{"sort|-T|/tmp/tmp.Ab3De5Fg7H|a", "a"}, {"sort|-T|/tmp/tmp.Zb3De5Fg7H|a", "a"}}},
	{"sort", {{"sort|-T|/tmp/tmp.Ab3De5Fg7H|a", "a"}, {"sort|-T|/tmp/tmp.Zb3De5Fg7H|b", "b"}}},
	/* temporary names, for lack of anything else */
	{"stats.py",
	 {{"python3|/w/.snakemake/scripts/tmp1k3j5x7q.stats.py", "tmp1k3j5x7q"},
	  {"python3|/w/.snakemake/scripts/tmp9z8y7x6_.stats.py", "tmp9z8y7x6_"}}},
	{"stats.py", {{"python3|/w/.snakemake/scripts/tmp1k3j5x7q.stats.py", "-"}}},
	{"curl",
	 {{"curl|-H|[redacted]|https://x.org/a/one.tar", "one.tar"},
	  {"curl|-H|[redacted]|https://x.org/a/two.tar", "two.tar"}}},
	/* never from code */
	{"python -c", {{"python3|-c|print('x', 1)|step|1", "step 1"}, {"python3|-c|print('x', 1)|step|2", "step 2"}}},
	{"python -c", {{"python3|-c|x|a.csv", "a.csv"}, {"python3|-c|y|b.csv", "b.csv"}}},
	{"bash -c", {{"bash|-lc|gzip -c a.txt > b.gz", "-"}, {"bash|-lc|gzip -c c.txt > d.gz", "-"}}},
	{"psql", {{"psql|-c|select 1|db1", "db1"}, {"psql|-c|select 2|db1", "db1"}}},
	/* a single task: the target, else the last file, else the last operand */
	{"gcc", {{"gcc|-c|-o|a.o|a.c", "a.o"}}},
	{"bwa index", {{"bwa|index|ref/genome.fa", "genome.fa"}}},
	{"crunch.py", {{"python3|crunch.py|3", "3"}}},
	{"bwa mem", {{"bwa|mem|-t|4|ref.fa|s1.fq", "s1.fq"}}},
	{"stress", {{"stress|--cpu|4|--mode|fast", "-"}}},
	{"sort", {{"sort|-|words", "words"}}},
	{"nextflow", {{"java|-cp|x|nextflow.cli.Launcher|run|main.nf", "main.nf"}}},
	{"make", {{"make", "-"}}},
	{"scan", {{"scan|data/", "data"}}},
	{"scan", {{"scan|/", "-"}}},
	{"scan", {{"scan||", "-"}}},
};

static void assert_label(const struct labels *labels, int64_t task_id, const char *expected)
{
	const char *label = labels_find(labels, task_id);

	ck_assert_msg(strcmp(label ? label : "-", expected) == 0, "task %d: label \"%s\", expected \"%s\"",
		      (int)task_id, label ? label : "-", expected);
}

TEST_EACH(label_is, cases)
{
	struct labels labels;

	for (size_t i = 0; i < SIBLINGS_MAX && cases[_i].siblings[i].command; i++)
		line_add((int64_t)i + 1, cases[_i].name, cases[_i].name, cases[_i].siblings[i].command);
	ck_assert_int_eq(labels_make(&lines, &labels), 0);
	for (size_t i = 0; i < SIBLINGS_MAX && cases[_i].siblings[i].command; i++)
		assert_label(&labels, (int64_t)i + 1, cases[_i].siblings[i].label);
	labels_free(&labels);
}

/* Each name apart, in any order; a line of code alone gives way to what it starts. */
TEST(labels_are_by_name)
{
	struct labels labels;

	line_add(3, "sort", "sort", "sort|b.txt");
	line_add(1, "bwa mem", "bash -c", "bash|-c|bwa mem ref.fa s1.fq > x; true");
	line_add(1, "bwa mem", "bwa mem", "bwa|mem|ref.fa|s1.fq");
	line_add(2, "bwa mem", "bwa mem", "bwa|mem|ref.fa|s2.fq");
	line_add(2, "bwa mem", "cat", "cat|x.fq");
	line_add(4, "make", "make", "make");
	line_add(4, "make", "true", "true");
	ck_assert_int_eq(labels_make(&lines, &labels), 0);
	assert_label(&labels, 1, "s1.fq");
	assert_label(&labels, 2, "s2.fq");
	assert_label(&labels, 3, "b.txt");
	assert_label(&labels, 4, "-");
	assert_label(&labels, 5, "-");
	labels_free(&labels);
}

/* Any length and any bytes: a label is cut between characters. */
TEST(bounds)
{
	char command[4096] = "tool|";
	struct labels labels;

	for (int i = 0; i < 200; i++)
		strcat(command, i % 2 ? "é" : "x");
	line_add(1, "tool", "tool", command);
	strcat(command, "|\x80\xff=\xc3||=|-=|tmp|tmp.|=tmp.........");
	for (int i = 0; i < 200; i++)
		strcat(command, "|a");
	line_add(2, "tool", "tool", command);
	line_add(3, "tool", "tool", "tool|\xc3");
	ck_assert_int_eq(labels_make(&lines, &labels), 0);
	ck_assert_uint_eq(strlen(labels_find(&labels, 1)), LABEL_MAX - 2);
	ck_assert_uint_lt(strlen(labels_find(&labels, 2)), LABEL_MAX);
	labels_free(&labels);
}

static void lines_end(void)
{
	rows_free(&lines);
}

int main(void)
{
	return suite_run("labels", lines_begin, lines_end);
}
