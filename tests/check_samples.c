/* Which sample each task worked on: command lines of pipelines, and what is made of them. */
#include "analysis/query/samples.h"

#include <errno.h>
#include <string.h>

#include "tests/suite.h"

#define TASKS_MAX 256
#define WORDS_MAX 64
#define STEPS_MAX 6
#define TEXT_BYTES 65536

/* Steps of a pipeline: a name, and one task for each sample (@), or a single one with none or all of them. */
struct step {
	const char *name, *words;
	enum { EACH, ONCE, ALL } times;
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
			tasks[task_count] = (struct samples_task){.name = step->name};
			words_add(replaced(step->words, samples[i]));
		}
		return;
	}
	tasks[task_count] = (struct samples_task){.name = step->name};
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
	ck_assert_int_eq(samples_find(tasks, task_count, NULL, samples), 0);
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

/* What is not a sample, and why. */
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
	{"steps without the names",
	 {{"A", "a @", EACH},
	  {"B", "b @", EACH},
	  {"C", "c @", EACH},
	  {"D", "d", EACH},
	  {"E", "e input.bam", EACH},
	  {"F", "f genome.fa", EACH}},
	 "only 3 of 6 steps have one task for each sample"},
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

/* Names in all steps with the same ends, and what remains of them. */
static const struct {
	const char *samples[4], *words, *keys[3];
} ends[] = {
	{{"NA12875", "NA12877", "NA12878"}, "tool @.bam", {"NA12875", "NA12877", "NA12878"}},
	{{"NA12875", "NA12877", "NA12878"}, "tool @.sorted.bam @.sorted.bam.bai", {"NA12875", "NA12877", "NA12878"}},
	{{"NA1", "NA2", "NA3"}, "tool @_1.fastq.gz @_2.fastq.gz", {"NA1", "NA2", "NA3"}},
	{{"NA1", "NA2", "NA3"},
	 "tool @_S1_L001_R1_001.fastq.gz @_S1_L001_R2_001.fastq.gz",
	 {"NA1_S1_L001", "NA2_S1_L001", "NA3_S1_L001"}},
	{{"NA1.bam", "NA2.cram", "NA3.bam"}, "tool @", {"NA1.bam", "NA2.cram", "NA3.bam"}},
	{{"WT_REP1", "KO_REP1", "HET_REP1"}, "tool @.bam", {"HET_REP1", "KO_REP1", "WT_REP1"}},
	{{"WT_1", "KO_1", "HET_1"}, "tool @.bam", {"HET_1", "KO_1", "WT_1"}},
	{{"leaf.a", "leaf.b", "root.a"}, "tool @.fq.gz", {"leaf.a", "leaf.b", "root.a"}},
	{{"P1", "P1_tumour", "P2"}, "tool @_1.fq.gz @_2.fq.gz", {"P1", "P1_tumour", "P2"}},
	{{"P1.bam", "P1_tumour.bam", "P2.bam"}, "tool @", {"P1", "P1_tumour", "P2"}},
};

TEST_EACH(no_extension_in, ends)
{
	static const char *const steps[] = {"A", "B", "C"};
	struct samples samples;

	for (size_t i = 0; i < 3; i++)
		step_add(&(struct step){steps[i], ends[_i].words, EACH}, ends[_i].samples);
	infer(&samples);
	ck_assert_str_eq(samples.misfit, "");
	ck_assert_uint_eq(samples.key_count, 3);
	for (size_t i = 0; i < 3; i++)
		ck_assert_str_eq(samples.keys[i], ends[_i].keys[i]);
	samples_deinit(&samples);
}

/* Twelve samples, and a merge of all of them that was tried twice. */
TEST(a_merge_hides_no_samples)
{
	static const char *const twelve[] = {"S1", "S2", "S3",  "S4",  "S5",  "S6", "S7",
					     "S8", "S9", "S10", "S11", "S12", NULL};
	static const struct step steps[] = {{"ALIGN", "bwa mem genome.fa @.fastq.gz", EACH},
					    {"SORT", "samtools sort -o @.sorted.bam @.bam", EACH},
					    {"CALL", "gatk HaplotypeCaller -I @.sorted.bam -O @.g.vcf", EACH},
					    {"MERGE", "bcftools merge @.g.vcf", ALL},
					    {"MERGE", "bcftools merge @.g.vcf", ALL}};
	struct samples samples;

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		step_add(&steps[i], twelve);
	infer(&samples);
	ck_assert_str_eq(samples.misfit, "");
	ck_assert_uint_eq(samples.key_count, 12);
	ck_assert_int_eq(samples.of_task[task_count - 1], SAMPLES_SHARED);
	samples_deinit(&samples);
}

/* What is not told apart by its samples: each task of a line works on one of three samples and of two others (+). */
static const struct {
	const char *what;
	const char *const others[2];
	const char *samples[5], *both[5];
} mixed[] = {
	/* nf-core's mag: bins of an assembler and a binner of each sample */
	{"mag",
	 {"MEGAHIT", "SPAdes"},
	 {"fastp -i @_1.fastq.gz", "fastqc @_1.fastq.gz", "bowtie2 -x phix -1 @.fastp.fastq.gz"},
	 {"quast +-@.contigs.fa", "bowtie2-build +-@.contigs.fa", "metabat2 -o +-MetaBAT2-@.fa -i +-@.contigs.fa",
	  "run_MaxBin.pl -contig +-@.contigs.fa -out +-MaxBin2-@", "busco -i +-MaxBin2-@.fa +-MetaBAT2-@.fa"}},
	/* taxprofiler: each sample against several databases */
	{"taxprofiler",
	 {"db1", "db2"},
	 {"fastp -i @_1.fastq.gz", "fastqc @_1.fastq.gz"},
	 {"kraken2 --db + --report @_+.kraken2.report.txt @.fastq.gz", "bracken -d + -o @_+.bracken.tsv",
	  "ktImportTaxonomy @_+.report.txt", "combine_kreports.py @_+.kreport.txt"}},
	/* atacseq: half of the steps see replicates, the others their libraries merged */
	{"atacseq",
	 {"REP1", "REP2"},
	 {"macs2 callpeak -n @.mRp.clN", "homer @.mRp.clN_peaks.narrowPeak",
	  "samtools merge @.mRp.clN.bam @_REP1.bam @_REP2.bam", "bedtools genomecov -i @.mRp.clN.bam",
	  "bigwig @.mRp.clN.bedGraph"},
	 {"fastqc @_+_1.fastq.gz", "trim_galore @_+_1.fastq.gz", "bwa mem genome.fa @_+_1_val_1.fq.gz",
	  "samtools sort @_+.bam", "picard MarkDuplicates @_+.mLb.sorted.bam"}},
};

static void mixed_add(const char *pattern, const char *other)
{
	const char *name = texts + used; /* of the step: the first word */
	char line[512] = "", *at = line;

	for (const char *next = pattern; *next; next++)
		at += *next == '+' ? snprintf(at, 32, "%s", other) : snprintf(at, 2, "%c", *next);
	used += (size_t)snprintf(texts + used, sizeof(texts) - used, "%.*s", (int)strcspn(pattern, " "), pattern) + 1;
	step_add(&(struct step){name, line, EACH}, plain);
}

TEST_EACH(no_samples_where_names_are_mixed, mixed)
{
	struct samples samples;

	for (size_t i = 0; i < 5 && mixed[_i].samples[i]; i++)
		mixed_add(mixed[_i].samples[i], "");
	for (size_t i = 0; i < 5 && mixed[_i].both[i]; i++)
		for (size_t j = 0; j < 2; j++)
			mixed_add(mixed[_i].both[i], mixed[_i].others[j]);
	infer(&samples);
	ck_assert_msg(samples.key_count == 0, "%s", mixed[_i].what);
	ck_assert_msg(strstr(samples.misfit, "steps have one task for each sample"), "%s", samples.misfit);
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
			tasks[task_count] = (struct samples_task){.name = steps[i]};
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

/* Names that the user gives: a list, or a pattern with one group; what is found in a word, joined by blanks. */
static const struct {
	const char *list[4], *pattern, *word, *found;
} given[] = {
	{{"S1", "S10", "S1_tumour"}, NULL, "reads/S10.fastq.gz", "S10"},
	{{"S1", "S10", "S1_tumour"}, NULL, "S1_tumour_1.fq.gz", "S1_tumour"},
	{{"S1", "S10", "S1_tumour"}, NULL, "XS1.bam", ""},
	{{"S1", "S10", "S1_tumour"}, NULL, "MEGAHIT-MaxBin2-S1.001.fa", "S1"},
	{{"S1", "S10"}, NULL, "-I=S1.bam,S10.bam", "S1 S10"},
	{{"S1", "S10"}, NULL, "results/S1/reads.bam", "S1"},
	{{"4", "12"}, NULL, "--threads=4", ""},
	{{"4", "12"}, NULL, "4.bam", "4"},
	{{"M\xc3\xbcller"}, NULL, "M\xc3\xbcllerin.bam", ""},
	{{"a b"}, NULL, "a b.bam", "a b"},
	{{NULL}, NULL, "S1.bam", ""},
	{{NULL}, "/([A-Z]+[0-9]+)_", "x/NA1_1.fq/NA2_3", "NA1 NA2"},
	{{NULL}, "^(?:.*/)?(s[0-9]+)", "--in=s1", ""},
	{{NULL}, "(x?)", "abc", ""},
	{{NULL}, "(?=(abc))", "abc", ""},
	{{NULL}, "(a|b|ab)*c", "ababababababababababababababababababababababababababababababababab", ""},
};

TEST_EACH(names_that_are_given, given)
{
	struct sample_names *names = sample_names_new();
	char found[256] = "", reason[SAMPLE_NAMES_REASON_SIZE];
	const char *name;
	size_t at = 0, size;

	for (size_t i = 0; i < 4 && given[_i].list[i]; i++)
		ck_assert_int_eq(sample_names_add(names, given[_i].list[i]), 0);
	if (given[_i].pattern) {
		sample_names_free(names);
		ck_assert_int_eq(sample_names_compile(given[_i].pattern, &names, reason), 0);
	}
	while (sample_names_next(names, given[_i].word, &at, &name, &size)) {
		strcat(found, *found ? " " : "");
		strncat(found, name, size);
	}
	ck_assert_str_eq(found, given[_i].found);
	sample_names_free(names);
}

static const struct {
	const char *pattern, *reason;
} broken_patterns[] = {
	{"S[0-9]+", "needs one group ( ), has 0"},
	{"(S)([0-9]+)", "needs one group ( ), has 2"},
	{"(S", "missing closing parenthesis"},
};

TEST_EACH(pattern_is_refused, broken_patterns)
{
	struct sample_names *names;
	char reason[SAMPLE_NAMES_REASON_SIZE];

	ck_assert_int_eq(sample_names_compile(broken_patterns[_i].pattern, &names, reason), -EINVAL);
	ck_assert_str_eq(reason, broken_patterns[_i].reason);
}

/* Each of mag's bins has its sample, although nothing can be inferred; without names, none has one. */
TEST_TIMES(names_are_not_inferred, 2)
{
	struct sample_names *names = sample_names_new();
	struct samples samples;

	for (size_t i = 0; i < 3 && _i == 0; i++)
		ck_assert_int_eq(sample_names_add(names, plain[i]), 0);
	step_add(&(struct step){"BIN", "run_MaxBin.pl -out MEGAHIT-MaxBin2-@", EACH}, plain);
	step_add(&(struct step){"BIN", "run_MaxBin.pl -out SPAdes-MaxBin2-@", EACH}, plain);
	step_add(&(struct step){"MERGE", "merge @.fa", ALL}, plain);
	step_add(&(struct step){"INDEX", "bwa index genome.fa", ONCE}, plain);
	ck_assert_int_eq(samples_find(tasks, task_count, names, &samples), 0);
	ck_assert_str_eq(samples.misfit, _i ? "--sample-sheet none" : "");
	ck_assert_uint_eq(samples.key_count, _i ? 0 : 3);
	for (size_t i = 0; i < 6; i++)
		ck_assert_int_eq(samples.of_task[i] >= 0, _i == 0);
	ck_assert_int_eq(samples.of_task[6], _i ? SAMPLES_NONE : SAMPLES_SHARED);
	ck_assert_int_eq(samples.of_task[7], SAMPLES_NONE);
	samples_deinit(&samples);
	sample_names_free(names);
}

int main(void)
{
	return suite_run("samples", begin, NULL);
}
