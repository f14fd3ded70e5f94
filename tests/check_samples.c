/* Which sample each task worked on: command lines of pipelines, and what is made of them. */
#include "query/samples.h"

#include <string.h>

#include "tests/suite.h"

#define TASKS_MAX 256
#define WORDS_MAX 64
#define STEPS_MAX 6
#define TEXT_BYTES 65536

/* Steps of a pipeline: a name, and one task for each sample (@), or a single one with none or all of them. */
struct step {
	const char *name, *words;
	enum { EACH, ONCE, LONG, ALL } times;
};

static char texts[TEXT_BYTES];
static size_t used;
static const char *words[TASKS_MAX][WORDS_MAX];
static struct samples_task tasks[TASKS_MAX];
static size_t task_count;

static void words_add(const char *line)
{
	struct samples_task *task = &tasks[task_count];
	char *copy = texts + used;

	used += (size_t)snprintf(copy, sizeof(texts) - used, "%s", line) + 1;
	ck_assert_uint_lt(used, sizeof(texts));
	task->words = words[task_count];
	for (char *word = strtok(copy, " "); word && task->word_count < WORDS_MAX; word = strtok(NULL, " "))
		words[task_count][task->word_count++] = word;
}

static const char *replaced(const char *line, const char *sample)
{
	static char text[1024];
	size_t size = 0;

	for (; *line; line++) {
		if (*line == '@')
			size += (size_t)snprintf(text + size, sizeof(text) - size, "%s", sample);
		else
			text[size++] = *line;
	}
	text[size] = '\0';
	return text;
}

static void step_add(const struct step *step, const char *const *samples)
{
	if (step->times == EACH) {
		for (size_t i = 0; samples[i]; i++, task_count++) {
			tasks[task_count] = (struct samples_task){.name = step->name, .wall_ns = 100};
			words_add(replaced(step->words, samples[i]));
		}
		return;
	}
	tasks[task_count] = (struct samples_task){.name = step->name, .wall_ns = step->times == LONG ? 400 : 10};
	for (size_t i = 0; samples[i] && step->times == ALL; i++)
		words_add(replaced(step->words, samples[i]));
	if (step->times != ALL)
		words_add(step->words);
	task_count++;
}

static const struct step rnaseq[] = {
	{"STAR_GENOMEGENERATE", "STAR --genomeFastaFiles genome.fasta --runThreadN 2", ONCE},
	{"FASTQC", "fastqc --threads 2 @_1.fastq.gz @_2.fastq.gz", EACH},
	{"TRIMGALORE", "trim_galore --cores 8 --paired --gzip @_1.fastq.gz @_2.fastq.gz", EACH},
	{"STAR_ALIGN", "STAR --genomeDir star --readFilesIn input/@_1_val_1.fq.gz --outFileNamePrefix @.", EACH},
	{"SAMTOOLS_SORT", "samtools sort -@ 2 -o @.sorted.bam -T @.sorted @.Aligned.out.bam", EACH},
	{"SAMTOOLS_INDEX", "samtools index @.sorted.bam", EACH},
	{"PICARD_MARKDUPLICATES", "picard MarkDuplicates INPUT=@.sorted.bam OUTPUT=@.markdup.sorted.bam", EACH},
	{"STRINGTIE", "stringtie @.markdup.sorted.bam -G genes.gtf -o @.transcripts.gtf", EACH},
	{"MULTIQC", "multiqc @.sorted.bam @_1_fastqc.zip", ALL},
	{"DUMPVERSIONS", "dump versions.yml", ONCE},
};

static const char *const yeast[] = {"WT_REP1",           "WT_REP2", "RAP1_UNINDUCED_REP1", "RAP1_UNINDUCED_REP2",
				    "RAP1_IAA_30M_REP1", NULL};
static const char *const plain[] = {"liver", "kidney", "heart", NULL};
static const char *const begins[] = {"S1", "S10", "S2", NULL}; /* one begins another */
static const char *const pairs[] = {"P1_normal", "P1_tumour", "P2_normal", "P2_tumour", NULL};
static const char *const dotted[] = {"leaf.a", "leaf.b", "root.a", NULL};
static const char *const numbers[] = {"SRR6357070", "SRR6357071", "SRR6357072", NULL};

static const struct {
	const char *const *samples;
	const char *keys; /* joined by blanks */
} cases[] = {
	{yeast, "RAP1_IAA_30M_REP1 RAP1_UNINDUCED_REP1 RAP1_UNINDUCED_REP2 WT_REP1 WT_REP2"},
	{plain, "heart kidney liver"},
	{begins, "S1 S10 S2"},
	{pairs, "P1_normal P1_tumour P2_normal P2_tumour"},
	{dotted, "leaf.a leaf.b root.a"},
	{numbers, "SRR6357070 SRR6357071 SRR6357072"},
};

static void begin(void)
{
	task_count = used = 0;
	memset(tasks, 0, sizeof(tasks));
}

static void infer(struct samples *samples)
{
	ck_assert_int_eq(samples_infer(tasks, task_count, samples), 0);
}

TEST_EACH(samples_of_a_pipeline_are, cases)
{
	struct samples samples;
	char keys[512] = "";

	for (size_t i = 0; i < sizeof(rnaseq) / sizeof(rnaseq[0]); i++)
		step_add(&rnaseq[i], cases[_i].samples);
	infer(&samples);
	for (size_t i = 0; i < samples.key_count; i++) {
		strcat(keys, i ? " " : "");
		strcat(keys, samples.keys[i]);
	}
	ck_assert_str_eq(samples.misfit, "");
	ck_assert_str_eq(keys, cases[_i].keys);
	for (size_t i = 0; i < task_count; i++) {
		const char *name = tasks[i].name;

		if (strcmp(name, "STAR_GENOMEGENERATE") == 0 || strcmp(name, "DUMPVERSIONS") == 0)
			ck_assert_int_eq(samples.of_task[i], SAMPLES_NONE);
		else if (strcmp(name, "MULTIQC") == 0)
			ck_assert_int_eq(samples.of_task[i], SAMPLES_SHARED);
		else
			ck_assert_msg(samples.of_task[i] >= 0, "%s: %d", name, samples.of_task[i]);
	}
	samples_deinit(&samples);
}

/* What is no sample, and why. */
static const struct {
	const char *what;
	struct step steps[STEPS_MAX];
	const char *misfit;
} misfits[] = {
	{"nothing", {{NULL}}, "fewer than two names recur in several steps"},
	{"a single step", {{"FASTQC", "fastqc @.fq", EACH}}, "fewer than two names recur in several steps"},
	{"a reference in all tasks",
	 {{"A", "a -x genome.fa", EACH}, {"B", "b genome.fa", EACH}, {"C", "c genome.fa", EACH}},
	 "fewer than two names recur in several steps"},
	{"numbers",
	 {{"A", "a 12", EACH}, {"B", "b 12", ONCE}, {"C", "c 12", ONCE}, {"D", "d 13", EACH}},
	 "fewer than two names recur in several steps"},
	{"tools of one task each",
	 {{"A", "a x.fq", ONCE}, {"B", "b x.bam", ONCE}, {"C", "c x.vcf", ONCE}},
	 "fewer than two names recur in several steps"},
	{"several tasks for each",
	 {{"A", "a @.1", EACH}, {"A", "a @.2", EACH}, {"B", "b @.1", EACH}, {"B", "b @.2", EACH}, {"C", "c @", EACH}},
	 "only 1 of 3 steps have one task for each sample"},
	{"a single name",
	 {{"A", "a liver.fq", ONCE},
	  {"A", "a", ONCE},
	  {"B", "b liver.fq", ONCE},
	  {"B", "b", ONCE},
	  {"C", "c liver.fq", ONCE},
	  {"C", "c", ONCE}},
	 "fewer than two names recur in several steps"},
	{"little of the time",
	 {{"A", "a @", EACH}, {"B", "b @", EACH}, {"C", "c @", EACH}, {"D", "d", LONG}},
	 "tasks on one sample have only 69 % of the time of all tasks"},
};

TEST_EACH(no_samples_in, misfits)
{
	struct samples samples;

	for (size_t i = 0; i < STEPS_MAX && misfits[_i].steps[i].name; i++)
		step_add(&misfits[_i].steps[i], plain);
	infer(&samples);
	ck_assert_str_eq(samples.misfit, misfits[_i].misfit);
	ck_assert_uint_eq(samples.key_count, 0);
	for (size_t i = 0; i < task_count; i++)
		ck_assert_int_eq(samples.of_task[i], SAMPLES_NONE);
	samples_deinit(&samples);
}

/* A lane that most steps name is not the sample: the other steps would have none. */
TEST(lanes_are_no_samples)
{
	static const char *const steps[] = {"A", "B", "C", "D", "E", "F", "G", "H"};
	struct samples samples;

	for (size_t i = 0; i < 8; i++)
		step_add(&(struct step){steps[i], i < 6 ? "tool @_L001.fq" : "tool @.bam", EACH}, plain);
	infer(&samples);
	ck_assert_str_eq(samples.misfit, "");
	ck_assert_uint_eq(samples.key_count, 3);
	ck_assert_str_eq(samples.keys[0], "heart");
	for (size_t i = 0; i < task_count; i++)
		ck_assert_int_ge(samples.of_task[i], 0);
	samples_deinit(&samples);
}

/* Two names of one sample, such as its accession, are one. */
TEST(names_of_the_same_sample_are_merged)
{
	static const char *const lines[][2] = {{"liver", "ERR1"}, {"kidney", "ERR2"}, {"heart", "ERR3"}};
	static const char *const steps[] = {"A", "B", "C", "D"};
	struct samples samples;
	char line[64];

	for (size_t i = 0; i < 4; i++)
		for (size_t j = 0; j < 3; j++, task_count++) {
			tasks[task_count] = (struct samples_task){.name = steps[i], .wall_ns = 1};
			snprintf(line, sizeof(line), "tool%zu %s.bam --id %s", i, lines[j][0], lines[j][1]);
			words_add(line);
		}
	infer(&samples);
	ck_assert_str_eq(samples.misfit, "");
	ck_assert_uint_eq(samples.key_count, 3);
	for (size_t i = 0; i < task_count; i++)
		ck_assert_int_eq(samples.of_task[i], samples.of_task[i % 3]);
	samples_deinit(&samples);
}

int main(void)
{
	return suite_run("samples", begin, NULL);
}
