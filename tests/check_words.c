/* Labels from command lines: what distinguishes each of several siblings. */
#include "correlator/model/words.h"

#include "tests/suite.h"

#define SIBLINGS_MAX 4
#define ARGUMENTS_MAX 32

/* A command line: arguments separated by |. */
static void read_words(const char *command, const char *name, struct words *ret_words)
{
	static char copy[4096];
	const char *argv[ARGUMENTS_MAX];
	struct rules_subject subject = {.argv = argv};

	snprintf(copy, sizeof(copy), "%s", command);
	for (char *argument = strtok(copy, "|"); argument; argument = strtok(NULL, "|"))
		argv[subject.argc++] = argument;
	ck_assert_int_eq(words_read(&subject, name, NULL, ret_words), 0);
}

/* Siblings of one name, and each one's label once all are known. */
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
	/* a parameter */
	{"crunch.py", {{"python3|crunch.py|--chunk|3|--of|12", "3"}, {"python3|crunch.py|--chunk|4|--of|12", "4"}}},
	{"train.py", {{"python3|train.py|--lr=0.1|--seed=1", "0.1"}, {"python3|train.py|--lr=0.01|--seed=1", "0.01"}}},
	/* pairs of files of a sample: their stem */
	{"bwa mem + samtools sort",
	 {{"bwa|mem|-t|4|ref/hg38.fa|fq/s1_1.fq.gz|fq/s1_2.fq.gz", "s1"},
	  {"bwa|mem|-t|4|ref/hg38.fa|fq/s2_1.fq.gz|fq/s2_2.fq.gz", "s2"}}},
	/* a stem ends before any number of separators */
	{"bwa mem", {{"bwa|mem|s1__1.fq|s1__2.fq", "s1"}, {"bwa|mem|s2__1.fq|s2__2.fq", "s2"}}},
	/* the same, with an explicit target */
	{"samtools sort",
	 {{"samtools|sort|-o|s1.sorted.bam|s1.bam", "s1.sorted.bam"},
	  {"samtools|sort|-o|s2.sorted.bam|s2.bam", "s2.sorted.bam"}}},
	/* without the part common to all; seeds and logs distinguish less than files */
	{"wgsim",
	 {{"wgsim|-S|12|ref.fa|heart.1.fq|heart.2.fq|log/heart.log", "heart.1.fq"},
	  {"wgsim|-S|11|ref.fa|brain.1.fq|brain.2.fq|log/brain.log", "brain.1.fq"}}},
	{"sim",
	 {{"sim|-S|12|--in|heart.1.fq|sim.heart.out", "heart"}, {"sim|-S|11|--in|brain.1.fq|sim.brain.out", "brain"}}},
	/* no stem: everything that differs */
	{"cmp", {{"cmp|ref_a|x1", "ref_a x1"}, {"cmp|ref_a|x2", "ref_a x2"}, {"cmp|ref_b|x1", "ref_b x1"}}},
	/* a second attempt gets the same label */
	{"bwa mem", {{"bwa|mem|ref.fa|s1.fq", "s1.fq"}, {"bwa|mem|ref.fa|s1.fq", "s1.fq"}}},
	/* temporary names, for lack of anything else */
	{"stats.py",
	 {{"python3|/w/.snakemake/scripts/tmp1k3j5x7q.stats.py", "tmp1k3j5x7q"},
	  {"python3|/w/.snakemake/scripts/tmp9z8y7x6_.stats.py", "tmp9z8y7x6_"}}},
	{"sort", {{"sort|-T|/tmp/tmp.Ab3De5Fg7H|a", "a"}, {"sort|-T|/tmp/tmp.Zb3De5Fg7H|b", "b"}}},
	{"stats.py", {{"python3|/w/.snakemake/scripts/tmp1k3j5x7q.stats.py", ""}}},
	{"curl",
	 {{"curl|-H|[redacted]|https://x.org/a/one.tar", "one.tar"},
	  {"curl|-H|[redacted]|https://x.org/a/two.tar", "two.tar"}}},
	/* never from code */
	{"python -c", {{"python3|-c|print('x', 1)|step|1", "1"}, {"python3|-c|print('x', 1)|step|2", "2"}}},
	{"bash -c", {{"bash|-lc|gzip -c a.txt > b.gz", ""}, {"bash|-lc|gzip -c c.txt > d.gz", ""}}},
	{"psql", {{"psql|-c|select 1|db1", "db1"}, {"psql|-c|select 2|db1", "db1"}}},
	{"srun", {{"srun|bash|-c|x a.fq; y", "bash"}}},
	/* a single task: the target, else the last file, else the last operand */
	{"gcc", {{"gcc|-c|-o|a.o|a.c", "a.o"}}},
	{"bwa index", {{"bwa|index|ref/genome.fa", "genome.fa"}}},
	{"crunch.py", {{"python3|crunch.py|3", "3"}}},
	{"bwa mem", {{"bwa|mem|-t|4|ref.fa|s1.fq", "s1.fq"}}},
	{"stress", {{"stress|--cpu|4", ""}}},
	{"sort", {{"sort|-|words", "words"}}},
	{"nextflow", {{"java|-cp|x|nextflow.cli.Launcher|run|main.nf", "main.nf"}}},
	{"make", {{"make", ""}}},
	{"scan", {{"scan|data/", "data"}}},
	{"scan", {{"scan|/", ""}}},
	{"scan", {{"scan||", ""}}},
};

TEST_EACH(label_is, cases)
{
	struct words words[SIBLINGS_MAX] = {{0}};
	struct common_words common;
	size_t count = 0;

	for (; count < SIBLINGS_MAX && cases[_i].siblings[count].command; count++) {
		read_words(cases[_i].siblings[count].command, cases[_i].name, &words[count]);
		if (count == 0)
			common_words_init(&common, &words[count]);
		else
			common_words_keep(&common, &words[count]);
	}
	for (size_t i = 0; i < count; i++) {
		char label[LABEL_MAX];

		words_label(&words[i], count > 1 ? &common : NULL, cases[_i].name, false, label);
		ck_assert_msg(strcmp(label, cases[_i].siblings[i].label) == 0, "%s: label \"%s\", expected \"%s\"",
			      cases[_i].siblings[i].command, label, cases[_i].siblings[i].label);
		words_deinit(&words[i]);
	}
}

/* Any length and any bytes. */
TEST(bounds)
{
	static char command[4096];
	struct words words;
	char label[LABEL_MAX];

	memset(command, 'x', 1000);
	strcpy(command, "tool|");
	memset(command + strlen(command), 'y', 200);
	read_words(command, "tool", &words);
	words_label(&words, NULL, "tool", false, label);
	ck_assert_uint_eq(strlen(label), LABEL_MAX - 1);
	words_deinit(&words);

	/* truncated before the character that does not fit */
	strcpy(command, "tool|");
	memset(command + 5, 'y', LABEL_MAX - 2);
	strcpy(command + 5 + LABEL_MAX - 2, "\xc3\xa4");
	read_words(command, "tool", &words);
	words_label(&words, NULL, "tool", false, label);
	ck_assert_uint_eq(strlen(label), LABEL_MAX - 2);
	words_deinit(&words);

	/* more words than are kept */
	strcpy(command, "bash|-c|");
	for (int i = 0; i < 500; i++)
		sprintf(command + strlen(command), "w%d ", i);
	read_words(command, "bash -c", &words);
	ck_assert_uint_le(words.size, WORDS_BYTES_MAX);
	words_label(&words, NULL, "bash -c", false, label);
	words_deinit(&words);
}

int main(void)
{
	return suite_run("words", NULL, NULL);
}
